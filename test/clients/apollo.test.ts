import { createHash } from 'node:crypto'
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { createClient } from 'graphql-ws'
import { firstValueFrom } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { schema } from '../testkit/mutate.ts'
import { CREATE, FOLLOW, openPlace, READ } from './place.ts'
import { possibleTypes } from './possible-types.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('Apollo Client creates, reads from its cache, follows, and stops to send hashes', async () => {
  await using place = await openPlace()
  const sent: (readonly string[])[] = []
  const http = new HttpLink({
    uri: place.url,
    headers: place.headers,
    fetch: (uri, init) => {
      sent.push(Object.keys(JSON.parse(String(init?.body))))
      return fetch(uri, init)
    },
  })
  const socket = createClient({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: place.headers })
  onTestFinished(async () => socket.dispose())
  const client = new ApolloClient({
    cache: new InMemoryCache({ possibleTypes: possibleTypes(schema) }),
    link: ApolloLink.split(
      ({ operationType }) => operationType === 'subscription',
      new GraphQLWsLink(socket),
      new PersistedQueryLink({ sha256 }).concat(http),
    ),
  })

  const created = await client.mutate<any>({ mutation: gql(CREATE), variables: { name: 'apollo' } })
  const { id } = created.data.createInstallation
  // Once with a hash, once with the text as well; from then on with the text alone.
  expect(sent.map((names) => names.includes('query'))).toEqual([false, true])
  const read = () => client.query<any>({ query: gql(READ), variables: { id } })
  const { object } = (await read()).data
  expect(object).toMatchObject({ __typename: 'Installation', name: 'apollo', generation: 1 })
  await read()
  expect(sent.slice(2).map((names) => names.includes('query'))).toEqual([true])
  // A fragment on an interface finds its object in the cache.
  const fragment = gql('fragment Named on TreeObject { name phase }')
  const from = { __typename: 'Installation', id }
  expect(client.readFragment<any>({ fragment, from })).toMatchObject({ name: 'apollo' })

  const refused = await client.mutate<any>({ mutation: gql(CREATE), variables: { name: 'apollo' } })
  expect(refused.data.createInstallation).toMatchObject({ __typename: 'ConflictError', code: 'ALREADY_EXISTS' })

  const first = await firstValueFrom(client.subscribe<any>({ query: gql(FOLLOW), variables: { id } }))
  expect(first.data.phaseChanges.name).toBe('apollo')
})

test('Apollo Client that asks by GET for hashes sends the text by POST', async () => {
  await using place = await openPlace()
  const methods: (string | undefined)[] = []
  const http = new HttpLink({
    uri: place.url,
    headers: place.headers,
    fetch: (uri, init) => {
      methods.push(init?.method)
      return fetch(uri, init)
    },
  })
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: new PersistedQueryLink({ sha256, useGETForHashedQueries: true }).concat(http),
  })
  const read = () => client.query<any>({ query: gql('{ viewer { name } }'), fetchPolicy: 'network-only' })
  expect((await read()).data.viewer.name).toBeTypeOf('string')
  await read()
  expect(methods).toEqual(['GET', 'POST', 'POST'])
})
