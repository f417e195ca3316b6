import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { openBrowser } from '../testkit/browser.ts'
import { type ReachableServer, startSharedServer } from '../testkit/server.ts'

/** The server and browser of a file's tests; available once the tests begin. */
export interface Place<S extends ReachableServer> {
  readonly server: S
  readonly browser: Browser
}
/** Time enough to install a browser. */
const OPEN_MS = 180_000

/** A server for all tests of the file, and the worker's browser. */
export function usePlaceOf<S extends ReachableServer>(serve: () => Promise<S>): Place<S> {
  let place: Place<S> | undefined
  const stack = new AsyncDisposableStack()
  beforeAll(async () => {
    const [browser, server] = await Promise.all([openBrowser(), serve()])
    stack.use(server)
    place = { server, browser }
  }, OPEN_MS)
  afterAll(() => stack.disposeAsync())
  const opened = (): Place<S> => {
    if (!place) throw new Error('there is no server before the tests begin')
    return place
  }
  return {
    get server() {
      return opened().server
    },
    get browser() {
      return opened().browser
    },
  }
}

export const usePlace = (): Place<ReachableServer> => usePlaceOf(() => startTestApp())

export const WEBSHOP = join(import.meta.dirname, '../../examples/webshop')

/** With the gadgets of the web shop, whose services are not those of a shop that somebody has running. */
export function useShopPlace(): Place<ReachableServer> {
  const env: Record<string, string> = { PHASELINE_GADGETS: join(WEBSHOP, 'gadgets') }
  beforeAll(async () => {
    env.PHASELINE_STATE = await mkdtemp(join(tmpdir(), 'phaseline-webshop-'))
  })
  // Hooks end in the reverse order: the server goes first.
  afterAll(() => rm(env.PHASELINE_STATE ?? '', { recursive: true, force: true }))
  // Gadgets see an allow-listed part of the environment of the process that starts them.
  return usePlaceOf(() => startSharedServer({ env }))
}
