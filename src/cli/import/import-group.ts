/** The command that families share for imports. */
export const IMPORT = {
  usage: 'import',
  group: 'Change',
  description: 'write a manifest of what other tools describe',
} as const
