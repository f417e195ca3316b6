import { type Client, ClientError } from '../../../client/index.ts'
import { pause, retryDelay } from '../../../client/pause.ts'
import { gql } from '../../../documents/gql.ts'

export interface Cloudlet {
  readonly id: string
  readonly name: string
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const BY_ID = gql(`query Cloudlet($nameOrId: ID!) { found: object(id: $nameOrId) { id name } }`)
const BY_NAME = gql(
  `query Cloudlet($nameOrId: String!) { found: objectByPath(kind: CLOUDLET, path: [$nameOrId]) { id name } }`,
)

/**
 * Finds a cloudlet by id or by name, and waits for the server. Null: the signal aborted.
 * @throws ClientError; with the code NOT_FOUND when there is no such cloudlet
 */
export async function findCloudlet(client: Client, nameOrId: string, signal: AbortSignal): Promise<Cloudlet | null> {
  for (let retries = 0; !signal.aborted; retries += 1) {
    try {
      const document = ID.test(nameOrId) ? BY_ID : BY_NAME
      const { found } = await client.query(document, { nameOrId }, { signal })
      if (found) return found
      throw new ClientError('graphql', `There is no cloudlet ${nameOrId}.`, { code: 'NOT_FOUND' })
    } catch (error) {
      if (!signal.aborted && !(error instanceof ClientError && error.retryable)) throw error
    }
    await pause(retryDelay(retries), signal)
  }
  return null
}
