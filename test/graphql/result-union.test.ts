import { readFileSync } from 'node:fs'
import { buildSchema, getNamedType, isUnionType } from 'graphql'
import { expect, test } from 'vitest'
import { forbidden, notFound } from '../../src/core/errors.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { type CommandResult, refuse } from '../../src/families/access.ts'
import { command } from '../../src/families/command.ts'
import { rights } from '../../src/families/deployments/rights.ts'
import { builder } from '../../src/graphql/schema/builder.ts'
import { answer } from '../../src/graphql/schema/errors.ts'
import { DataObjectRef } from '../../src/graphql/schema/refs.ts'
import { commandResult, errorsOf } from '../../src/graphql/schema/result-union.ts'

/** The compiler runs half of this test: each `@ts-expect-error` fails unless the next line is an error. */

type Found = CommandResult<'NotFoundError' | 'ForbiddenError'>
const find = (_parts: unknown, _viewer: Viewer, id: string): Promise<Found> => Promise.resolve(refuse(notFound(id)))

test('a union has the errors that its command can end in, no more and no fewer', () => {
  expect(errorsOf<typeof find>({ NotFoundError: true })).toEqual({ refusals: ['NotFoundError'] })
  // @ts-expect-error NotFoundError is missing
  errorsOf<typeof find>({})
  // @ts-expect-error LimitError is superfluous
  errorsOf<typeof find>({ NotFoundError: true, LimitError: true })
  expect(command(find, ['NotFoundError']).refusals).toEqual(['NotFoundError'])
  // @ts-expect-error LimitError is superfluous
  command(find, ['NotFoundError', 'LimitError'])
  expect(incomplete).toBeTypeOf('function')
})

const incomplete = () =>
  builder.mutationField('incomplete', (t) =>
    t.field({
      ...commandResult('IncompleteResult', DataObjectRef, command(find, [])),
      right: rights.create,
      description: 'Compiled, and not run.',
      // @ts-expect-error NotFoundError is missing
      resolve: (_, __, { viewer }) => answer(find(null, viewer, 'x'), (found) => found as never),
    }),
  )

test('the result of each mutation has the errors that any request can end in, and its own', () => {
  const printed = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
  const mutations = Object.values(printed.getMutationType()?.getFields() ?? {})
  const without = mutations.flatMap(({ name, type }) => {
    const result = getNamedType(type)
    if (!isUnionType(result)) return name
    const members = result.getTypes().map((member) => member.name)
    const has = members.includes('ForbiddenError') && members.includes('InvalidInputError')
    return has && result.name === `${name.charAt(0).toUpperCase()}${name.slice(1)}Result` ? [] : name
  })
  // `log` is no mutation: it lets a document ask about the log in the same request.
  expect(without).toEqual(['log'])
})

test('a command ends only in errors that its return type declares', () => {
  const declared: CommandResult<'NotFoundError'> = refuse(notFound('x'))
  // @ts-expect-error ForbiddenError is not declared
  const undeclared: CommandResult<'NotFoundError'> = refuse(forbidden('No.'))
  expect([declared, undeclared]).toMatchObject([{ ok: false }, { ok: false }])
})
