import { LeaseholdApiError } from './api-error.ts';

/** What a call gives, or a value in the place of one refusal that is an ordinary outcome. */
export async function orOn<Value, Instead>(
  code: string,
  instead: Instead,
  call: Promise<Value>,
): Promise<Value | Instead> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof LeaseholdApiError && error.code === code) return instead;
    throw error;
  }
}
