/** The options of every agent process: what stands for its value in a help text, and what it is. Each takes a value. */
export const AGENT_OPTIONS = {
  types: ['types', 'what it works on, with commas between'],
  url: ['url', 'GraphQL endpoint'],
  'token-file': ['file', 'file that holds its token, - for standard input (otherwise PHASELINE_TOKEN)'],
  instance: ['name', 'name of this agent, for runtimes of their place, the same after a restart'],
  targets: ['targets', 'take work of these targets only, with commas between'],
  'target-type': ['type', 'take work of all targets of this type that projects have, with their credentials'],
  'target-labels': [
    'key=value,…',
    'take work of all targets with these labels, or of its type the ones that have them',
  ],
  label: ['key=value,…', 'labels of the place of a runtime, which workers and jobs may ask for'],
  capacity: ['count', 'how many workers, and how many jobs, a runtime’s place runs at once (otherwise no limit)'],
  concurrency: ['count', 'how much it does at once, of each type'],
  'lease-ms': ['ms', 'after so long another agent takes over the work of one that has died'],
  state: ['folder', 'folder of its files, for process, container and crm'],
  'grace-ms': ['ms', 'what workloads get from SIGTERM to SIGKILL'],
} as const satisfies Readonly<Record<string, readonly [value: string, description: string]>>
