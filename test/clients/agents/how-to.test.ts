import { test } from 'vitest'
import { CLIENT, PYTHON } from './agent-process.ts'
import { runAgentOfPage } from './how-to.ts'

test('the agent in Python works', () =>
  runAgentOfPage({
    ...{ page: 'agent-in-python.md', file: 'greeter.py' },
    env: { PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: 'yes' },
    prepare: async () => [PYTHON, 'greeter.py'],
  }))
