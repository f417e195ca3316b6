import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'

/** A server for clients of others, and how they are let in. */
export interface ClientPlace extends AsyncDisposable {
  readonly api: Api
  readonly server: RunningServer
  readonly url: string
  readonly socketUrl: string
  readonly headers: { readonly authorization: string }
}

export async function openPlace(): Promise<ClientPlace> {
  const api = await createApi()
  const server = await api.serve()
  const headers = { authorization: `Bearer ${await api.token()}` }
  const url = `${server.url}/graphql`
  return {
    ...{ api, server, url, socketUrl: url.replace('http', 'ws'), headers },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}

/** Each client creates an installation, reads it, and follows its changes. */
export const CREATE = `
  mutation Create($name: String!) {
    createInstallation(input: { name: $name, reconcile: false, spec: { deployItems: [] } }) {
      __typename
      ... on Installation { id name phase }
      ... on Error { code message }
      ... on NotFoundError { objectId }
    }
  }
`
export const READ = `
  query Read($id: ID!) {
    object(id: $id) { __typename id name ... on Installation { generation } }
  }
`
export const FOLLOW = `
  subscription Follow($id: ID!) {
    phaseChanges(filter: { rootId: $id }, after: 0) { name to }
  }
`
