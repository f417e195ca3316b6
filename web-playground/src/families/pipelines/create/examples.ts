import type { FormExample } from '../../../pages/create/form-example.ts'
import type { EventValues } from '../model/event-values.ts'

export interface EventExample extends FormExample {
  readonly values: EventValues
}

export const EVENTS: readonly EventExample[] = [
  {
    name: 'push',
    label: 'A push',
    about: 'Code was pushed: each project that has subscribed to it starts its worker.',
    needs:
      'Needs a project that has subscribed to it, such as ci: phaseline project apply -f examples/ci/project.yaml.',
    values: {
      project: '',
      source: 'example.com/word-count',
      type: 'push',
      qualifiers: [],
      labels: [{ key: 'branch', value: 'main' }],
      payload: '{ "after": "0f31c2a" }',
    },
  },
]
