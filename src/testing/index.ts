import type * as api from './api.ts'

/** A server for tests of those who use Phaseline: `phaseline/testing`. */

export type {
  Answer,
  PlayedAgent,
  PlayOptions,
  TestServer,
  TestServerOptions,
  UntilOptions,
} from './api.ts'

export const startTestServer: typeof api.startTestServer = async (options) => {
  const { start } = await import('./test-server.ts')
  return await start(options)
}
