/**
 * A Prisma client as `prisma generate` (7.10, generator `prisma-client`) makes it for a schema without models: all that
 * raw SQL and `$transaction` need. Generating needs the `prisma` command line, 300 MB for this one file.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import { getPrismaClient, type GetPrismaClientConfig } from '@prisma/client/runtime/client';

/** The part of a generated client that is the same for every schema. */
export interface PrismaClient extends PrismaTransaction {
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
  $transaction<T>(run: (tx: PrismaTransaction) => Promise<T>): Promise<T>;
  $transaction(queries: PromiseLike<unknown>[]): Promise<unknown[]>;
}

export interface PrismaTransaction {
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>;
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): Promise<T>;
}

export function createPrismaClient(connectionString: string): PrismaClient {
  const Client: new (options: { adapter: PrismaPg }) => unknown = getPrismaClient(CONFIG);
  const client = new Client({ adapter: new PrismaPg({ connectionString }) });
  return client as PrismaClient;
}

/** Node has it, its types do not. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Module: new (bytes: Uint8Array) => CompilerModule };
};

/** Modules without types. */
const COMPILER: string = '@prisma/client/runtime/query_compiler_fast_bg.postgresql.mjs';
const COMPILER_BYTES: string =
  '@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.mjs';
type CompilerModule = Awaited<
  ReturnType<NonNullable<GetPrismaClientConfig['compilerWasm']>['getQueryCompilerWasmModule']>
>;
type CompilerRuntime = Awaited<
  ReturnType<NonNullable<GetPrismaClientConfig['compilerWasm']>['getRuntime']>
>;

const CONFIG: GetPrismaClientConfig = {
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
  activeProvider: 'postgresql',
  inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: 'AAAA' },
  compilerWasm: {
    importName: './query_compiler_fast_bg.js',
    getRuntime: async () => (await import(COMPILER)) as CompilerRuntime,
    getQueryCompilerWasmModule: async () => {
      const { wasm } = (await import(COMPILER_BYTES)) as { readonly wasm: string };
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    },
  },
};
