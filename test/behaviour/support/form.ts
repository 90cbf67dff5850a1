/** One form of the deployment: the same code on another platform. */
export interface Form {
  /** A call of the API from outside. */
  fetch(path: string, init?: FormRequest): Promise<Response>;
  /** The scheduled pass, once, to its end. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface FormRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Starts a form with these variables on top of what it needs for its database. */
export type StartForm = (variables: Readonly<Record<string, string>>) => Promise<Form>;
