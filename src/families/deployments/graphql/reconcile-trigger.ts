import { builder } from '../../../graphql/schema/builder.ts'
import { addTriggerInput } from '../../trigger-input.ts'
import { ReconcileModeEnum } from './reconcile-mode.ts'

addTriggerInput(
  'reconcileInstallation',
  builder.inputType('TriggeredReconcileInput', {
    description: 'A job of a root installation of the same project.',
    fields: (t) => ({
      name: t.string({
        required: true,
        limit: 'reference',
        description: 'Name of the installation. It is looked up at each firing, so it need not exist yet.',
      }),
      mode: t.field({ type: ReconcileModeEnum, description: 'Mode of the job. Left out or null: STANDARD.' }),
    }),
  }),
  'Starts a job of an installation. Left out or null: another field says what starts.',
)
