import { z } from 'zod';

import { MAX_WAIT_SECONDS } from '../limits.ts';
import { integerText } from './integer.ts';

/** Query of `GET /v1/jobs/{id}`. */
export const waitQuery = z.strictObject({ wait: integerText(0, MAX_WAIT_SECONDS).optional() });
