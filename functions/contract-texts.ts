import type { Tool } from '@modelcontextprotocol/server';

/**
 * The contract as it is served, made when it is first asked for: it is the same for everybody, and whoever may ask without a
 * token must not cost an isolate more than a copy.
 */
export interface ContractTexts {
  /** JSON of the OpenAPI document. */
  document?: string;
  /** HTML of the reference page. */
  page?: string;
  /** Every tool for agents, in the order of `TOOLS`. */
  tools?: readonly Tool[];
}
