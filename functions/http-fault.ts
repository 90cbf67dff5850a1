import { LeaseholdError } from '../shared/errors.ts';
import type { ErrorCode } from '../shared/errors.ts';

/** An error that is about HTTP itself and owes the client a header, such as `Allow` or `WWW-Authenticate`. */
export class HttpFault extends LeaseholdError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>>) {
    super(code, message);
    this.headers = headers;
  }
}
