import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';

/** What a person may start an agent with. */
export const PROMPTS: readonly Prompt[] = [
  {
    name: 'work_on_queue',
    title: 'Work on a queue',
    description: 'Take jobs of one queue, one after another, until none is due.',
    arguments: [
      { name: 'queue', description: 'Name of the queue.', required: true },
      { name: 'how', description: 'What to heed with these jobs.' },
    ],
  },
];

/** @throws {ProtocolError} when there is no such prompt, or it lacks an argument */
export function getPrompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  const { queue, how } = given;
  if (name !== 'work_on_queue') {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No prompt has this name.');
  }
  if (queue === undefined || queue === '') {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The argument "queue" is required.');
  }
  const text = [
    `Work on the queue ${JSON.stringify(queue)} of Leasehold. Claim one job at a time from it, do what its payload asks, send ` +
      'heartbeats with your progress while you work, and end it with complete, fail, ask_a_human, snooze or release before you ' +
      'claim the next. Stop when a claim that waited 20 seconds finds nothing, and then say what you did, job by job.',
    ...(how === undefined || how === '' ? [] : [how]),
  ].join('\n\n');
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
