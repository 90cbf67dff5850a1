import type { Handler } from '../../shared/handler.ts';
import { csvReport } from './csv-report.ts';
import { httpRequest } from './http-request.ts';

/** The handlers of this deployment. Write one a file beside this one, and add it here. */
export const HANDLERS: readonly Handler[] = [httpRequest, csvReport];
