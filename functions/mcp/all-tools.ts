import type { Tool } from './tool.ts';
import { askAHuman } from './tools/ask-a-human.ts';
import { claim } from './tools/claim.ts';
import { enqueue } from './tools/enqueue.ts';
import { HUMAN_TOOLS } from './tools/human.ts';
import { LEASE_TOOLS } from './tools/lease.ts';
import { LOOK_TOOLS } from './tools/look.ts';

/** Every tool, in the order in which agents are shown them. */
export const TOOLS: readonly Tool[] = [
  claim,
  ...LEASE_TOOLS,
  askAHuman,
  enqueue,
  ...LOOK_TOOLS,
  ...HUMAN_TOOLS,
];
