import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { PRIORITIES } from '../queue/new-job.ts';

const RULE = `must be one of ${PRIORITIES.map((name) => `"${name}"`).join(', ')}`;

export const priority = z.enum(PRIORITIES, stating(RULE));
