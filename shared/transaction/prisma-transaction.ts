import type { Transaction } from './statement.ts';

/** What is called of the `tx` that an interactive `prisma.$transaction` hands to its callback. */
export interface PrismaTransactionClient {
  $queryRawUnsafe(text: string, ...values: (string | null)[]): PromiseLike<unknown>;
  /** Only the client has it, and the client would run the statement outside the transaction. */
  readonly $connect?: never;
}

/**
 * For Prisma's interactive transactions. ("Unsafe" is Prisma's word for SQL that is given as text; the text here is
 * constant and the values are parameters.)
 *
 * @param tx what `prisma.$transaction` hands to its callback
 * @example await prisma.$transaction((tx) => enqueueIn(prismaTransaction(tx), [job], { actor: 'shop' }));
 */
export function prismaTransaction(tx: PrismaTransactionClient): Transaction {
  return { run: ({ text, values }) => tx.$queryRawUnsafe(text, ...values) };
}
