import { stitchSchemas } from '@graphql-tools/stitch'
import { schemaFromExecutor } from '@graphql-tools/wrap'
import { graphql, parse, print, subscribe } from 'graphql'
import { createClient } from 'graphql-ws'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { CREATE, FOLLOW, openPlace, READ } from './place.ts'

test('a gateway that stitches schemas has ours beside another one', async () => {
  await using place = await openPlace()
  const socket = createClient({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: place.headers })
  onTestFinished(async () => socket.dispose())
  const executor: Parameters<typeof schemaFromExecutor>[0] = async ({ document, variables, operationType }) => {
    const request = { query: print(document), variables: variables ?? {} }
    if (operationType === 'subscription') return socket.iterate(request) as any
    const headers = { ...place.headers, 'content-type': 'application/json' }
    const answer = await fetch(place.url, { method: 'POST', headers, body: JSON.stringify(request) })
    return await answer.json()
  }
  const typeDefs = 'type Query { hello: String }'
  const resolvers = { Query: { hello: () => 'there' } }
  const schema = stitchSchemas({
    subschemas: [{ schema: await schemaFromExecutor(executor), executor }],
    typeDefs,
    resolvers,
  })
  const ask = async (source: string, variableValues: Record<string, unknown> = {}): Promise<any> =>
    await graphql({ schema, source, variableValues })
  const created = await ask(CREATE, { name: 'stitched' })
  const { id } = created.data.createInstallation
  expect(await ask(READ, { id })).toMatchObject({ data: { object: { name: 'stitched', generation: 1 } } })
  expect(await ask('{ hello viewer { name } }')).toEqual({ data: { hello: 'there', viewer: { name: 'ada' } } })
  const stream = await subscribe({ schema, document: parse(FOLLOW), variableValues: { id } })
  if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream.errors))
  for await (const event of stream) {
    expect(event.data).toMatchObject({ phaseChanges: { name: 'stitched' } })
    break
  }
})
