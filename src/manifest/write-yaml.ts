import { stringify } from 'yaml'

/** YAML that readers of version 1.1 and of version 1.2 read alike: texts such as `yes` and `0400` have quotes. */
export const writeYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })
