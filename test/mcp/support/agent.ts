import type { Client } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/client';

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  /** The structured content. */
  readonly content: Readonly<Record<string, unknown>>;
}

export interface HeldJob {
  readonly id: string;
  readonly fencing_token: string;
  readonly attempt: number;
  readonly payload: unknown;
  readonly [name: string]: unknown;
}

/** An agent, as it is connected by the SDK's own client. */
export class Agent {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** Calls a tool. The client checks the answer against the tool's output schema. */
  async call(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<ToolAnswer> {
    const result = (await this.client.callTool({ name, arguments: args })) as CallToolResult;
    const { structuredContent = {}, content, isError = false } = result;
    // Models that read text alone are told the same.
    const [first] = content;
    if (first?.type !== 'text' || first.text !== JSON.stringify(structuredContent)) {
      throw new Error(`${name}: text and structured content differ: ${JSON.stringify(result)}`);
    }
    return { isError, content: structuredContent as ToolAnswer['content'] };
  }

  /** The same, for a call that must be taken. */
  async done(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
  ): Promise<ToolAnswer['content']> {
    const { isError, content } = await this.call(name, args);
    if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
    return content;
  }

  async claim(args: Readonly<Record<string, unknown>>): Promise<HeldJob | undefined> {
    const { job } = await this.done('claim', args);
    return job === null ? undefined : (job as HeldJob);
  }

  /** What names the lease in calls of its holder. */
  static lease(job: HeldJob): { readonly job_id: string; readonly fencing_token: string } {
    return { job_id: job.id, fencing_token: job.fencing_token };
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
