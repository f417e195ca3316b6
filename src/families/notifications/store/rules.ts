import { json } from '../../../store/column-types.ts'
import { HEAD } from '../../../store/log-mark.ts'
import { projectRecords, type RecordOf } from '../../../store/project-records.ts'
import * as table from '../../../store/tables.ts'
import type { Editor } from '../../on-behalf.ts'
import type { RuleSpec } from '../rules/spec.ts'

const { description, isEnabled } = table.notificationRule
export const RULES = projectRecords({
  table: 'notification_rule',
  columns: { description, spec: json<RuleSpec>(), isEnabled, editor: json<Editor>() },
  isForAll: `r.spec -> 'changes' -> 'projects' is not null`,
  // A rule that is new, or enabled again, tells what comes after the end of the log, which its command has let catch up.
  alsoWrites: {
    columns: { after_sequence: HEAD },
    onUpdate: [
      'after_sequence = case when excluded.is_enabled and not r.is_enabled then excluded.after_sequence else r.after_sequence end',
      'behind_sequence = case when excluded.is_enabled then r.behind_sequence end',
      'behind_mark = case when excluded.is_enabled then r.behind_mark end',
    ],
  },
})
export type RuleRow = RecordOf<typeof RULES>
