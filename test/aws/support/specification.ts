/** What CloudFormation and SAM take, from AWS's own specification, without a network. */
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import type { PropertyType, Resource as Spec, SpecDatabase } from '@aws-cdk/service-spec-types';
import { isNode } from './template.ts';
import type { Node, Resource, Value } from './template.ts';

type Properties = Readonly<
  Record<string, { readonly type: PropertyType; readonly required?: boolean }>
>;

export interface Specification {
  /** What is wrong with a resource, as paths and texts. */
  faultsOf(name: string, resource: Resource): string[];
  /** Whether `!GetAtt` can ask a resource for it. */
  hasAttribute(type: string, attribute: string): boolean;
}

/** SAM hands these on to the function that it makes, so what CloudFormation says of them holds; what is needed it fills in. */
const BEHIND_SAM: Readonly<Record<string, string>> = {
  'AWS::Serverless::Function': 'AWS::Lambda::Function',
};

export function loadSpecification(): Specification {
  const database = loadAwsServiceSpecSync();
  return {
    faultsOf: (name, { Type: type, Properties: properties }) => {
      const specs = [type, BEHIND_SAM[type]].flatMap((one) => specOf(database, one) ?? []);
      if (specs.length === 0) return [`${name}: ${type} is not known`];
      const known = Object.fromEntries(
        specs
          .toReversed()
          .flatMap((one) => Object.entries(one.properties))
          .map(([key, property]) => [
            key,
            { ...property, required: specs.length === 1 && property.required === true },
          ]),
      );
      return faultsOfProperties(database, known, properties, name);
    },
    hasAttribute: (type, attribute) =>
      [type, BEHIND_SAM[type]].some(
        (one) => specOf(database, one)?.attributes[attribute] !== undefined,
      ),
  };
}

function specOf(database: SpecDatabase, type: string | undefined): Spec | undefined {
  if (type === undefined) return undefined;
  return database.lookup('resource', 'cloudFormationType', 'equals', type)[0];
}

function faultsOfProperties(
  database: SpecDatabase,
  known: Properties,
  given: Node,
  path: string,
): string[] {
  const missing = Object.entries(known)
    .filter(([name, { required }]) => required === true && given[name] === undefined)
    .map(([name]) => `${path}.${name} is missing`);
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const property = known[name];
    return property === undefined
      ? [`${path}.${name} is not known`]
      : faultsOfValue(database, property.type, value, `${path}.${name}`);
  });
  return [...missing, ...wrong];
}

function faultsOfValue(
  database: SpecDatabase,
  type: PropertyType,
  value: Value,
  path: string,
): string[] {
  const branches = branchesOf(value);
  if (branches !== undefined) {
    return branches.flatMap((branch) => faultsOfValue(database, type, branch, path));
  }
  if (isIntrinsic(value)) return [];
  switch (type.type) {
    case 'ref': {
      if (!isNode(value)) return [`${path} must be an object`];
      const { properties } = database.get('typeDefinition', type.reference.$ref);
      return faultsOfProperties(database, properties, value, path);
    }
    case 'array':
      return Array.isArray(value)
        ? value.flatMap((item: Value, index) =>
            faultsOfValue(database, type.element, item, `${path}[${index}]`),
          )
        : [`${path} must be a list`];
    case 'map':
      return isNode(value)
        ? Object.entries(value).flatMap(([key, inner]) =>
            faultsOfValue(database, type.element, inner, `${path}.${key}`),
          )
        : [`${path} must be an object`];
    case 'union': {
      const faults = type.types.map((one) => faultsOfValue(database, one, value, path));
      return faults.some((one) => one.length === 0) ? [] : faults.flat();
    }
    case 'json':
      return isNode(value) ? [] : [`${path} must be an object`];
    case 'tag':
      return isNode(value) ? [] : [`${path} must be a tag`];
    case 'boolean':
    case 'date-time':
    case 'integer':
    case 'null':
    case 'number':
    case 'string':
      return faultsOfScalar(type, value, path);
  }
}

const SCALARS: Readonly<Record<string, (value: Value) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
};

function faultsOfScalar(type: PropertyType, value: Value, path: string): string[] {
  const allowed = 'allowedValues' in type ? type.allowedValues : undefined;
  if (allowed !== undefined && !(allowed as readonly unknown[]).includes(value)) {
    return [`${path} must be one of ${allowed.join(', ')}`];
  }
  return SCALARS[type.type]?.(value) === false ? [`${path} must be of the type ${type.type}`] : [];
}

/** Both sides of an `If`, when the value is one. */
function branchesOf(value: Value): readonly Value[] | undefined {
  if (!isNode(value)) return undefined;
  const branches = value['Fn::If'];
  return Array.isArray(branches) ? (branches as readonly Value[]).slice(1) : undefined;
}

/** A value that CloudFormation puts in: it is of the right type or the deployment fails, which no offline check can say. */
function isIntrinsic(value: Value): boolean {
  if (!isNode(value)) return false;
  const [key = '', ...more] = Object.keys(value);
  return more.length === 0 && (key === 'Ref' || key.startsWith('Fn::'));
}
