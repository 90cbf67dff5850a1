import { describe } from 'vitest';
import { behaviour } from './behaviour.ts';
import { startWorkerdForm } from './support/workerd-form.ts';

describe('C.1 C.6 on Cloudflare: the Worker that wrangler deploys, in workerd', () => {
  behaviour(startWorkerdForm);
});
