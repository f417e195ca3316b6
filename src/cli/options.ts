import { InvalidArgumentError } from 'commander'

/** `deploy-item`, `DeployItem` is not one, `DEPLOY_ITEM`: a name of a GraphQL enum value in any of the usual spellings. */
export function parseConstant(text: string): string {
  const constant = text.trim().toUpperCase().replaceAll('-', '_')
  if (!/^[A-Z][A-Z0-9_]*$/.test(constant)) throw new InvalidArgumentError('Expected a name such as DEPLOY_ITEM.')
  return constant
}

/** The same for an option that can be given several times, or once with commas. */
export const parseConstants = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(',').map(parseConstant),
]

/** A whole number that is not negative: a sequence, a limit. */
export function parseCount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('Expected a whole number, 0 or more.')
  }
  return value
}

export interface LabelArgument {
  readonly key: string
  readonly value: string
}

/** `key=value`, several times. */
export function parseLabel(text: string, before: readonly LabelArgument[] = []): LabelArgument[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Expected key=value.')
  return [...before, { key: text.slice(0, at), value: text.slice(at + 1) }]
}
