/**
 * The times of a schedule found the slow way: by looking at every minute on the zone's wall clock. It shares nothing with
 * the library under test but the platform's knowledge of zones.
 */
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export interface PlainTimes {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Whether it names local times, each once a local day, instead of following real time. */
  readonly fixed: boolean;
}

interface WallMinute {
  readonly at: number;
  readonly day: string;
  /** Minutes since local midnight, as the wall shows them. */
  readonly minuteOfDay: number;
}

/** Instants from `from` (included) to `until` (not included), both on whole minutes. */
export function slotsOnTheWall(
  times: PlainTimes,
  zone: string,
  from: number,
  until: number,
): number[] {
  const wanted = new Set(
    times.hours.flatMap((hour) => times.minutes.map((min) => hour * 60 + min)),
  );
  // A day more on either side: what a local day holds can only be told from all of it.
  const wall = wallMinutes(zone, from - DAY_MS, until + DAY_MS);
  const slots = times.fixed ? oncePerDay(wall, wanted) : everyReal(wall, wanted);
  return slots.filter((slot) => slot >= from && slot < until);
}

function everyReal(wall: readonly WallMinute[], wanted: ReadonlySet<number>): number[] {
  return wall.filter(({ minuteOfDay }) => wanted.has(minuteOfDay)).map(({ at }) => at);
}

/** The first minute of each local day at which the wall shows a wanted time, or has just passed it by. */
function oncePerDay(wall: readonly WallMinute[], wanted: ReadonlySet<number>): number[] {
  const slots = new Set<number>();
  for (const day of new Set(wall.map((minute) => minute.day))) {
    const ofDay = wall.filter((minute) => minute.day === day);
    for (const time of wanted) {
      const reached = ofDay.find(({ minuteOfDay }) => minuteOfDay >= time);
      if (reached !== undefined) slots.add(reached.at);
    }
  }
  return [...slots].toSorted((left, right) => left - right);
}

function wallMinutes(zone: string, from: number, until: number): WallMinute[] {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const minutes: WallMinute[] = [];
  for (let at = from; at < until; at += MINUTE_MS) {
    const [day = '', clock = ''] = format.format(at).split(', ');
    const [hour = '', minute = ''] = clock.split(':');
    minutes.push({ at, day, minuteOfDay: Number(hour) * 60 + Number(minute) });
  }
  return minutes;
}
