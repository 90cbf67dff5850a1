import { z } from 'zod';

/** Query of `GET /v1/overview`: there is none, and whoever filters by one should hear so. */
export const overviewQuery = z.strictObject({});
