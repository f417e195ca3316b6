import type { Config } from '../config.ts'
import { OWN_DOCUMENTS } from '../documents/own-documents.ts'
import type { Metrics } from '../server/operators/metrics.ts'
import { createServer, type RunningServer, type ServerOptions } from '../server/server.ts'
import { isOurAgent } from './built-in-agents.ts'
import {
  DASHBOARD_FOLDER as dashboardFolder,
  PACKAGE_FOLDER as descriptionsFolder,
  DOCUMENTATION_FOLDER as documentationFolder,
} from './package-folder.ts'
import { readDocuments } from './read-documents.ts'
import { watchCertificate } from './watched-certificate.ts'

interface GatewayParts
  extends Required<
    Pick<
      ServerOptions,
      | 'schema'
      | 'services'
      | 'artifacts'
      | 'hooks'
      | 'logger'
      | 'clock'
      | 'work'
      | 'logins'
      | 'readiness'
      | 'drain'
      | 'inFlight'
    >
  > {
  readonly config: Config
}
export interface Gateway extends AsyncDisposable {
  /** e.g. https://127.0.0.1:4000 */
  readonly origin: string
  /** For the built-in agents, which need not know the names of the certificate, nor its authority. */
  readonly agentsOrigin: string
  readonly metrics: Metrics
}

/** The server as it is configured. @throws StartProblem */
export async function openGateway(parts: GatewayParts): Promise<Gateway> {
  await using opening = new AsyncDisposableStack()
  const { config, logger, services } = parts
  const { metricsToken } = config
  const { path, isRequired } = config.documents
  const documents = { texts: await readDocuments(path), hashes: OWN_DOCUMENTS, isRequired }
  const tls = config.tls && opening.use(await watchCertificate(config.tls, logger))
  const loopback = tls && config.roles.has('agents') ? { port: config.agentsPort, accepts: isOurAgent } : null
  const server: RunningServer = opening.use(
    await createServer({
      ...parts,
      ...(tls && {
        services: { ...services, server: async () => ({ ...(await services.server()), certificateEnd: tls.end }) },
      }),
      documents,
      dashboardFolder,
      documentationFolder,
      descriptionsFolder,
      tls,
      loopback,
      metricsToken,
    }),
  )
  const opened = opening.move()
  return {
    origin: server.url,
    agentsOrigin: server.loopbackUrl ?? server.url,
    metrics: server.metrics,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
