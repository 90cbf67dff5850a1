import { z } from 'zod';

import { ERROR_CODES } from '../errors.ts';
import { openEnum } from './response-parts.ts';

/** A problem document (RFC 9457). Some codes add members of their own, such as `actual_count`. */
export const problemResponse = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  code: openEnum(ERROR_CODES),
  remedy: z.string(),
  problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  request_id: z.string(),
});
