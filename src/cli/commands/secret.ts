import type { Command } from 'commander'
import { invalid, notFoundRefusal, type Outcome, REFUSAL_FRAGMENT, refused } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Cli } from '../cli.ts'
import { withCompletion } from '../completed.ts'
import { withYes } from '../options.ts'
import { reseal } from '../projects/reseal.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { readExactly } from '../terminal/read-input.ts'
import { type Confirmable, onceConfirmed, readHidden } from '../terminal/terminal-input.ts'
import { since } from '../terminal/text.ts'

const SET = gql(`mutation SetSecret($input: SetSecretInput!) {
  answer: setSecret(input: $input) { __typename ... on Secret { name updatedAt } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const DELETE = gql(`mutation DeleteSecret($input: DeleteSecretInput!) {
  answer: deleteSecret(input: $input) { __typename ... on DeletedSecret { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const LIST = gql(`query ListSecrets($project: String!) { project(name: $project) { secrets { name updatedAt } } }`)

/**
 * `phaseline secret set|delete|list PROJECT`, `phaseline secret reseal`: environment variables of workers and jobs, which nobody
 * can read again.
 */
export function addSecret(secret: Command, cli: Cli): void {
  withCompletion(withSessionOptions(secret.command('set')), 'project')
    .description('set a secret; its value is read from standard input, or typed at a prompt that does not show it')
    .argument('<project>', 'project')
    .argument('<name>', 'environment variable that workers and jobs find it in')
    .action(async (project: string, name: string, options: SessionOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => set(session, project, name))
    })
  withYes(withCompletion(withSessionOptions(secret.command('delete')), 'project'))
    .description('delete a secret; events that have come already keep it')
    .argument('<project>', 'project')
    .argument('<name>', 'name of the secret')
    .action(async (project: string, name: string, options: SessionOptions & Confirmable) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        onceConfirmed(cli.io, options, `Delete secret ${project}/${name}?`, () => remove(session, project, name)),
      )
    })
  withCompletion(withSessionOptions(secret.command('list')), 'project')
    .description('list names of secrets, and when they were set')
    .argument('<project>', 'project')
    .action(async (project: string, options: SessionOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => list(session, project))
    })
  withSessionOptions(secret.command('reseal'))
    .description('seal with the newest key what older keys have sealed, and list the keys, as an administrator')
    .action(async (options: SessionOptions) => {
      cli.exitCode = await withSession(cli.io, options, reseal)
    })
}

async function set(session: Session, project: string, name: string): Promise<ExitCode> {
  const value = await readValue(session, `${project}/${name}`)
  if (value === 'interrupted') return EXIT.interrupted
  if (!value.ok) return session.refuse(value.refusal)
  const outcome = await ask(session, SET, { project, name, value: value.value })
  return report(session, outcome, { project, name, done: 'set' })
}

/** From a terminal a hidden line; otherwise the whole input without its last line end, which `echo` adds. */
async function readValue({ io }: Session, shown: string): Promise<Outcome<string> | 'interrupted'> {
  if (io.stdin.isTTY === true) {
    const typed = await readHidden(io, `Value of ${shown} (not shown): `)
    if (!typed.ok) return 'interrupted'
    if (typed.rest) return refused(invalid('The value has several lines: pipe it, as in secret set … < FILE.'))
    return secretOf(typed.text)
  }
  const read = await readExactly('-', io.stdin)
  return read.ok ? secretOf(read.text.replace(/\r?\n$/, '')) : refused(invalid(read.message))
}

const secretOf = (value: string): Outcome<string> =>
  value === '' ? refused(invalid('There is no value: pipe it to standard input.')) : { ok: true, value }

async function remove(session: Session, project: string, name: string): Promise<ExitCode> {
  const outcome = await ask(session, DELETE, { project, name })
  return report(session, outcome, { project, name, done: 'deleted' })
}

function report(
  session: Session,
  outcome: Outcome<object>,
  did: { readonly project: string; readonly name: string; readonly done: string },
): ExitCode {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(did)
  session.say(`${did.project}/${did.name} ${did.done}`)
  return EXIT.ok
}

async function list(session: Session, name: string): Promise<ExitCode> {
  const { project } = await session.client.query(LIST, { project: name }, { signal: session.io.signal })
  if (!project) return session.refuse(notFoundRefusal(`There is no project ${name} that you may read.`))
  const { secrets } = project
  session.emit({ project: name, secrets })
  session.list({
    nodes: secrets,
    columns: { NAME: (secret) => secret.name, SINCE: ({ updatedAt }) => since(updatedAt) },
    none: 'There is no secret.',
  })
  return EXIT.ok
}
