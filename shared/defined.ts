/** The same object without the keys whose value is undefined, as exact optional properties want it. */
export type Defined<Shape> = {
  [Key in keyof Shape as undefined extends Shape[Key] ? never : Key]: Shape[Key];
} & {
  [Key in keyof Shape as undefined extends Shape[Key] ? Key : never]?: Exclude<
    Shape[Key],
    undefined
  >;
};

/**
 * @example defined({ queue: 'a', limit: undefined }) // { queue: 'a' }
 */
export function defined<Shape extends object>(shape: Shape): Defined<Shape> {
  const entries = Object.entries(shape).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<Shape>;
}
