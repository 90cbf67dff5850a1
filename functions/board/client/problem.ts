/** Why a call did not do what it was asked, in words for the person who asked. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly remedy: string;

  constructor(status: number, code: string, detail: string, remedy: string) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.remedy = remedy;
  }
}

/** A problem document, or whatever else came with a status that tells of failure. */
export function problemOf(status: number, body: unknown): Problem {
  const document: Readonly<Record<string, unknown>> =
    typeof body === 'object' && body !== null ? { ...body } : {};
  const fields = Array.isArray(document['problems']) ? document['problems'].map(fieldText) : [];
  return new Problem(
    status,
    text(document['code']) ?? 'http_error',
    [text(document['detail']) ?? `The server answered ${status}.`, ...fields].join(' '),
    text(document['remedy']) ?? 'Try again in a moment.',
  );
}

export function unreachable(): Problem {
  return new Problem(0, 'unreachable', 'The server cannot be reached.', 'Try again in a moment.');
}

/** What a page shows of anything thrown. */
export function describe(error: unknown): { readonly what: string; readonly remedy: string } {
  if (error instanceof Problem) return { what: error.message, remedy: error.remedy };
  return { what: 'The board met a fault of its own.', remedy: 'Load the page again.' };
}

function fieldText(field: unknown): string {
  if (typeof field !== 'object' || field === null) return '';
  const { path, message } = field as { readonly path?: unknown; readonly message?: unknown };
  return `${text(path) ?? ''} ${text(message) ?? ''}.`.trim();
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
