import { ClientError } from '../client/client-error.ts'
import { isFresh, type SignIn } from './sign-in.ts'

/** The storage of a sign-in. */
export interface SignInStore {
  /** Null: nobody is signed in. */
  read(): Promise<SignIn | null>
  write(signIn: SignIn): Promise<void>
  /** Runs it while nobody else does who reads the same store: an issuer ends a sign-in whose refresh token comes twice. */
  exclusively(renew: () => Promise<SignIn>): Promise<SignIn>
}

/**
 * The `token` of a client: that of the stored sign-in, renewed before it expires or when it is refused. It throws a ClientError, `unauthorized`
 * when only a new sign-in helps.
 */
export function freshTokens(store: SignInStore): (refused?: string) => Promise<string> {
  let renewing: Promise<SignIn> | undefined
  return async (refused) => {
    const signIn = await store.read()
    if (!signIn) throw signedOut()
    if (isFresh(signIn, Date.now()) && signIn.token !== refused) return signIn.token
    renewing ??= renew(store, refused).finally(() => {
      renewing = undefined
    })
    try {
      return (await renewing).token
    } catch (error) {
      const isFinal = error instanceof ClientError && !error.retryable
      // The issuer cannot be reached: the token may still do.
      if (!isFinal && signIn.expiresAt > Date.now() && signIn.token !== refused) return signIn.token
      if (error instanceof ClientError) throw error
      throw new ClientError('network', `${signIn.login.issuer} cannot be reached.`, { retryable: true })
    }
  }
}

const renew = (store: SignInStore, refused: string | undefined): Promise<SignIn> =>
  store.exclusively(async () => {
    const before = await store.read()
    if (!before) throw signedOut()
    // Somebody else has renewed it meanwhile.
    if (isFresh(before, Date.now()) && before.token !== refused) return before
    const { renewSignIn, SignInEnded } = await import('./issuer.ts')
    try {
      const signIn = await renewSignIn(before)
      await store.write(signIn)
      return signIn
    } catch (error) {
      if (error instanceof SignInEnded) throw new ClientError('unauthorized', error.message)
      throw error
    }
  })

const signedOut = (): ClientError => new ClientError('unauthorized', 'You are signed out.')
