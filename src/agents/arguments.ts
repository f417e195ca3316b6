import { parseArgs } from 'node:util'

/** The command line of an agent process, checked. */
export interface AgentArguments {
  readonly types: readonly string[]
  readonly url: string
  readonly instance: string | undefined
  readonly targets: readonly string[] | undefined
  readonly concurrency: number | undefined
  readonly state: string | undefined
  readonly graceMs: number | undefined
  readonly leaseMs: number | undefined
  readonly crm: CrmArguments
  readonly tokenFile: string | undefined
}
export interface CrmArguments {
  /** Id or name. */
  readonly cloudlet: string
  readonly role: 'CRM' | 'CRM_V2'
  readonly version: string
}

/** Only these start unless `--types` names others. */
const DEFAULT_TYPES = 'mock,gadget'

/** Wrong arguments. The message says what to write instead. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** @throws UsageError, or a TypeError for an unknown option */
export function readArguments(known: readonly string[]): AgentArguments {
  const { values } = parseArgs({
    options: {
      types: { type: 'string', default: DEFAULT_TYPES },
      url: { type: 'string', default: 'http://127.0.0.1:4000/graphql' },
      targets: { type: 'string' },
      concurrency: { type: 'string' },
      instance: { type: 'string' },
      state: { type: 'string' },
      'grace-ms': { type: 'string' },
      'lease-ms': { type: 'string' },
      cloudlet: { type: 'string', default: '' },
      role: { type: 'string', default: 'CRM' },
      'crm-version': { type: 'string', default: '1.0.0' },
      'token-file': { type: 'string' },
    },
  })
  const types = values.types.split(',')
  const unknown = types.filter((type) => !known.includes(type))
  const needsState = types.some((type) => type === 'process' || type === 'crm')
  refuse(unknown.length > 0, `There is no built-in agent for ${unknown.join(', ')}.`)
  refuse(needsState && !values.state, 'This agent needs --state: the folder that it keeps its files in.')
  refuse(
    types.includes('crm') && values.cloudlet === '',
    'The CRM needs --cloudlet: the id or the name of the cloudlet that it serves.',
  )
  return {
    types,
    url: values.url,
    instance: values.instance,
    targets: values.targets?.split(','),
    concurrency: wholeNumber('--concurrency', values.concurrency),
    state: values.state,
    graceMs: wholeNumber('--grace-ms', values['grace-ms']),
    leaseMs: wholeNumber('--lease-ms', values['lease-ms']),
    crm: { cloudlet: values.cloudlet, role: roleOf(values.role), version: values['crm-version'] },
    tokenFile: values['token-file'],
  }
}

function refuse(isWrong: boolean, message: string): void {
  if (isWrong) throw new UsageError(message)
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  refuse(!Number.isInteger(number) || number < 1, `${option} must be a positive whole number.`)
  return number
}

function roleOf(text: string): 'CRM' | 'CRM_V2' {
  if (text === 'CRM' || text === 'CRM_V2') return text
  throw new UsageError('--role must be CRM or CRM_V2.')
}
