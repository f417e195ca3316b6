import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { newestOf, showNewest } from '../../web-playground/src/graphiql/newest-results.ts'

async function* counted(last: number): AsyncGenerator<unknown> {
  for (let sequence = 1; sequence <= last; sequence++) yield { data: { phaseChanges: { sequence } } }
}
async function all(results: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const result of results) found.push(result)
  return found
}

test('the newest results of a fast subscription are one answer, with their count', async () => {
  const [answer, ...more] = await all(newestOf(counted(1_080)))
  const newest = Array.from({ length: 200 }, (_, i) => ({ phaseChanges: { sequence: 1_080 - i } }))
  expect(answer).toEqual({ data: { received: 1_080, newest } })
  expect(more).toEqual([])
})

test('an end by an error keeps the results, and a result with errors is shown whole', async () => {
  const refused = { data: null, errors: [{ message: 'no such object' }] }
  async function* cut(): AsyncGenerator<unknown> {
    yield* counted(2)
    yield refused
    throw Object.assign(new Error(), { code: 1006, reason: 'Goodbye' })
  }
  const answers = JSON.parse(JSON.stringify(await all(newestOf(cut()))))
  expect(answers).toEqual([
    {
      errors: [{ message: 'Goodbye' }],
      data: { received: 3, newest: [refused, { phaseChanges: { sequence: 2 } }, { phaseChanges: { sequence: 1 } }] },
    },
  ])
})

test('a refused subscription shows its errors', async () => {
  const refusal = [{ message: 'Forbidden.' }]
  const refused: AsyncIterable<unknown> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(refusal) }),
  }
  expect(await all(newestOf(refused))).toEqual([{ errors: refusal, data: { received: 0, newest: [] } }])
})

test('it stops at once, also while nothing arrives', async () => {
  const silence = Promise.withResolvers<IteratorResult<unknown>>()
  const silent: AsyncIterable<unknown> = {
    [Symbol.asyncIterator]: () => ({
      next: () => silence.promise,
      return: async () => {
        silence.resolve({ done: true, value: undefined })
        return { done: true, value: undefined }
      },
    }),
  }
  const newest = newestOf(silent)
  const answers = all(newest)
  await newest.return?.()
  expect(await answers).toEqual([])
})

test('only subscriptions are collected', async () => {
  const documentAST = parse('query Q { viewer { name } } subscription S { phaseChanges { sequence } }')
  const fetch = showNewest(async () => counted(2) as never)
  const answersOf = async (operationName: string): Promise<unknown[]> =>
    all((await fetch({ query: '', operationName }, { documentAST })) as AsyncIterable<unknown>)
  expect(await answersOf('Q')).toHaveLength(2)
  expect(await answersOf('S')).toHaveLength(1)
})
