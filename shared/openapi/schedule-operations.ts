import { scheduleListQuery } from '../schemas/schedule-list-query.ts';
import { scheduleName } from '../schemas/schedule-name.ts';
import { SCHEDULE } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Schedules';
const params = { name: scheduleName };

export const SCHEDULE_OPERATIONS: readonly Operation[] = [
  {
    id: 'listSchedules',
    method: 'get',
    path: '/v1/schedules',
    tag,
    summary: 'List schedules',
    description: 'By name.',
    access: 'read',
    database: true,
    query: scheduleListQuery,
    success: { 200: { description: 'A page of schedules.', schema: 'SchedulePage' } },
  },
  {
    id: 'getSchedule',
    method: 'get',
    path: '/v1/schedules/{name}',
    tag,
    summary: 'Read a schedule',
    description: 'With the slots that it fires next.',
    access: 'read',
    database: true,
    params,
    success: { 200: { description: 'The schedule.', schema: 'Schedule' } },
    errors: ['not_found'],
  },
  {
    id: 'putSchedule',
    method: 'put',
    path: '/v1/schedules/{name}',
    tag,
    summary: 'Make or replace a schedule',
    description:
      'The body is the whole schedule: what is left out gets its default. Check `next_slots` in the answer.',
    access: 'operate',
    database: true,
    params,
    body: { schema: 'ScheduleRequest', example: SCHEDULE },
    success: { 200: { description: 'The schedule as it is now.', schema: 'Schedule' } },
  },
  {
    id: 'deleteSchedule',
    method: 'delete',
    path: '/v1/schedules/{name}',
    tag,
    summary: 'Delete a schedule',
    description: 'Jobs that it made stay.',
    access: 'operate',
    database: true,
    params,
    success: { 204: { description: 'It is gone.' } },
    errors: ['not_found'],
  },
  {
    id: 'pauseSchedule',
    method: 'post',
    path: '/v1/schedules/{name}/pause',
    tag,
    summary: 'Pause a schedule',
    description: 'Slots that pass meanwhile are not made up for.',
    access: 'operate',
    database: true,
    params,
    success: { 200: { description: 'The schedule as it is now.', schema: 'Schedule' } },
    errors: ['not_found'],
  },
  {
    id: 'resumeSchedule',
    method: 'post',
    path: '/v1/schedules/{name}/resume',
    tag,
    summary: 'Resume a schedule',
    description: 'It fires again from the next slot on.',
    access: 'operate',
    database: true,
    params,
    success: { 200: { description: 'The schedule as it is now.', schema: 'Schedule' } },
    errors: ['not_found', 'invalid_request'],
  },
];
