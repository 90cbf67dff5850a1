import { describe } from 'vitest';
import { behaviour } from './behaviour.ts';
import { startProcessForm } from './support/process-form.ts';

describe('C.1 in this process', () => {
  behaviour(startProcessForm);
});
