import { describe } from 'vitest';
import { behaviour } from './behaviour.ts';
import { startLambdaForm } from './support/lambda-form.ts';

describe('C.1 C.6 on AWS: the bundle of the stack, through the events of Lambda', () => {
  behaviour(startLambdaForm);
});
