/** What the command line ends with. Public: scripts build on it. */
export const EXIT = {
  done: 0,
  /** Refused by the service, failed, or a check of `doctor` failed. */
  failed: 1,
  /** The command line itself, or the settings that it needs, are wrong. Nothing was asked of the service. */
  usage: 2,
  notFound: 3,
  /** The service did not answer, so nobody knows whether a change was made. */
  noAnswer: 4,
  /** `--wait` is over and the job has not ended. */
  timeUp: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
