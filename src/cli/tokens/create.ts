import { invalid } from '../../client-model/index.ts'
import type { VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'
import { words } from '../terminal/text.ts'
import { CREATE_TOKEN } from './api.ts'
import { SecretFile } from './secret-file.ts'

type Input = VariablesOf<typeof CREATE_TOKEN>['input']

export interface CreateTokenOptions {
  readonly role: Input['role']
  readonly actor?: Input['actor']
  readonly type?: readonly string[]
  readonly target?: readonly string[]
  readonly project?: readonly string[]
  readonly expires?: number
  readonly key?: string
  readonly quiet?: boolean
  readonly secretFile?: string
}

/**
 * `token create`: the secret is in the file, or on standard output, alone, so that it can be piped; what there is to say of it
 * is on standard error.
 */
export async function createToken(session: Session, name: string, options: CreateTokenOptions): Promise<ExitCode> {
  if (options.secretFile === undefined) return await create(session, name, options, null)
  const opened = await SecretFile.create(options.secretFile)
  if (!opened.ok) return session.refuse(opened.refusal)
  await using file = opened.value
  return await create(session, name, options, file)
}

async function create(
  session: Session,
  name: string,
  options: CreateTokenOptions,
  file: SecretFile | null,
): Promise<ExitCode> {
  const { role, actor, type: types, target: targets, project: projects, expires, key, quiet } = options
  const outcome = await ask(session, CREATE_TOKEN, {
    ...{ name, role },
    ...(actor ? { actor } : {}),
    ...(types ? { types } : {}),
    ...(targets ? { targets } : {}),
    ...(projects ? { projects } : {}),
    ...(expires === undefined ? {} : { expiresInMs: expires }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { secret, token } = outcome.value
  const problem = await file?.write(secret)
  if (problem) return session.refuse(invalid(`${problem}. Its token is of no use: phaseline token revoke ${token.id}`))
  session.emit(file ? { token } : { secret, token })
  if (session.json) return EXIT.ok
  if (!quiet) {
    const end = token.expiresAt === null ? 'It does not expire' : `It expires at ${token.expiresAt}`
    const where = file ? `Its secret is in ${options.secretFile}.` : 'Its secret cannot be shown again:'
    printLine(session.io.stderr, `${token.name} created for the role ${words(role)} (id ${token.id}). ${end}. ${where}`)
  }
  if (!file) session.say(secret)
  return EXIT.ok
}
