import { type Client, ClientError, createClient } from 'phaseline/client'
import type { Machines } from 'phaseline/client-model'
import { type KnownMachine, setServerVocabulary } from '../model/known.ts'
import { type SignedIn, signedIn } from '../model/viewer.ts'
import type { Access } from './access.ts'
import { OPENING } from './documents.ts'
import { Feed } from './feed.ts'
import { reloadOnce } from './load-part.ts'
import { fetchWith } from './page-key.ts'

/** The parts that need a token: the client, the feed, and the machines, which do not change while a server runs. */
export interface Session {
  readonly client: Client
  readonly feed: Feed
  readonly machines: Machines<KnownMachine>
  /** The person who has signed in. */
  readonly viewer: SignedIn
  close(): void
}

/** @throws ClientError, `unauthorized` when the server does not accept the credentials */
export async function openSession({ token, isSignIn }: Access): Promise<Session> {
  const stop = new AbortController()
  let feed: Feed | undefined
  const own = createClient({
    url: new URL('/graphql', location.href).href,
    token,
    fetch: fetchWith(isSignIn),
    onConnection: (state) => feed?.connected(state),
  })
  const query: Client['query'] = (...asked) => own.query(...asked).catch(reloadIfReplaced)
  const client: Client = { ...own, query }
  try {
    const opening = await client.query(OPENING)
    const machines = setServerVocabulary(opening)
    feed = new Feed(client, opening.log, stop.signal)
    const close = (): void => {
      stop.abort()
      void client.close()
    }
    return { client, feed, machines, viewer: signedIn(opening.viewer), close }
  } catch (error) {
    void client.close()
    throw error
  }
}

/** The build has checked each document against its schema, so a server that refuses one is of another version by now. */
function reloadIfReplaced(error: unknown): never {
  if (error instanceof ClientError && error.code === 'GRAPHQL_VALIDATION_FAILED') reloadOnce()
  throw error
}
