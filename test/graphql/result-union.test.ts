import { expect, test } from 'vitest'
import { forbidden, notFound } from '../../src/core/errors.ts'
import { type CommandResult, refuse } from '../../src/families/access.ts'
import { errorsOf } from '../../src/graphql/schema/result-union.ts'

/** The compiler runs half of this test: each `@ts-expect-error` fails unless the next line is an error. */

type Find = (id: string) => Promise<CommandResult<'NotFoundError' | 'ForbiddenError'>>

test('a union has the errors that its command can end in, no more and no fewer', () => {
  expect(errorsOf<Find>({ NotFoundError: true, ForbiddenError: true })).toEqual(['NotFoundError', 'ForbiddenError'])
  // @ts-expect-error NotFoundError is missing
  errorsOf<Find>({ ForbiddenError: true })
  // @ts-expect-error LimitError is superfluous
  errorsOf<Find>({ NotFoundError: true, ForbiddenError: true, LimitError: true })
})

test('a command ends only in errors that its return type declares', () => {
  const declared: CommandResult<'NotFoundError'> = refuse(notFound('x'))
  // @ts-expect-error ForbiddenError is not declared
  const undeclared: CommandResult<'NotFoundError'> = refuse(forbidden('No.'))
  expect([declared, undeclared]).toMatchObject([{ ok: false }, { ok: false }])
})
