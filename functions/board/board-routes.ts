import type { Route } from '../routes/route.ts';
import { boardAsset } from './assets.ts';
import { readSession } from './session.ts';
import { boardHome, boardPath } from './shell.ts';
import { signIn, signInPage } from './sign-in.ts';
import { signOut } from './sign-out.ts';

/** The board's own routes, apart from the API that its pages use. Fixed paths stand before the pattern. */
export const BOARD_ROUTES: readonly Route[] = [
  boardAsset,
  readSession,
  signInPage,
  signIn,
  signOut,
  boardHome,
  boardPath,
];
