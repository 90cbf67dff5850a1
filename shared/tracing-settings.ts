import { z } from 'zod';

import { stating } from './parse-with.ts';
import { Secret } from './secret.ts';

/** Where spans go. */
export interface TracingSettings {
  /** Takes them by OTLP/HTTP. */
  readonly url: URL;
  /** Sent with them, keys of a vendor above all. */
  readonly headers: readonly (readonly [name: string, value: Secret])[];
  readonly serviceName: string;
  /** Of the traces that begin here, 0 to 1; others are as their beginner said. */
  readonly ratio: number;
}

const URL_RULE =
  'must be an https:// URL without user, query and fragment (http:// where no headers are sent)';
const HEADERS_RULE = 'must be name=value pairs with commas between, values percent-encoded';
const NAME_RULE = 'must be 1 to 200 characters';
const RATIO_RULE = 'must be a number from 0 to 1';

/** The variables, for the schema of all of them; named as OpenTelemetry names them. */
export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string(stating(URL_RULE)).refine(isTarget, URL_RULE).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string(stating(HEADERS_RULE))
    .transform((text) => headerPairs(text))
    .refine((pairs) => pairs.every((pair) => pair !== undefined), HEADERS_RULE)
    .default([]),
  OTEL_SERVICE_NAME: z
    .string(stating(NAME_RULE))
    .min(1, NAME_RULE)
    .max(200, NAME_RULE)
    .default('leasehold'),
  OTEL_TRACES_SAMPLER_ARG: z
    .union([z.string(), z.number()], stating(RATIO_RULE))
    .refine((value) => /^(0(\.\d+)?|1(\.0+)?)$/.test(String(value)), RATIO_RULE)
    .transform(Number)
    .default(1),
};

/** The variables after parsing. */
export interface TracingVariables {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS: readonly (readonly [string, string] | undefined)[];
  readonly OTEL_SERVICE_NAME: string;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

/** What is wrong with the variables together. */
export function tracingProblems(value: TracingVariables): { path: string; message: string }[] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: headers } = value;
  return url !== undefined && headers.length > 0 && new URL(url).protocol === 'http:'
    ? [{ path: 'OTEL_EXPORTER_OTLP_ENDPOINT', message: URL_RULE }]
    : [];
}

/** @returns undefined where no endpoint is set: nothing is traced */
export function tracingSettings(value: TracingVariables): TracingSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: url } = value;
  if (url === undefined) return undefined;
  return Object.freeze({
    url: new URL(`${url.replace(/\/+$/, '')}/v1/traces`),
    headers: value.OTEL_EXPORTER_OTLP_HEADERS.flatMap((pair) =>
      pair === undefined ? [] : [[pair[0], new Secret(pair[1])] as const],
    ),
    serviceName: value.OTEL_SERVICE_NAME,
    ratio: value.OTEL_TRACES_SAMPLER_ARG,
  });
}

function isTarget(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

/** Undefined for each part that is no pair. */
function headerPairs(text: string): readonly (readonly [string, string] | undefined)[] {
  return text.split(',').map((part) => {
    const [, name, value] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined) return undefined;
    try {
      const decoded = decodeURIComponent(value);
      return /^[\x20-\x7e]+$/.test(decoded) ? [name, decoded] : undefined;
    } catch {
      return undefined;
    }
  });
}
