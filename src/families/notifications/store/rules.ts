import { json } from '../../../store/column-types.ts'
import { HEAD } from '../../../store/log-mark.ts'
import { projectRecords, type RecordOf } from '../../../store/project-records.ts'
import * as table from '../../../store/tables.ts'
import type { Editor } from '../../on-behalf.ts'
import type { RuleSpec } from '../rules/spec.ts'

/** A change that is committed came before, also while it waits for its number. */
const END_OF_LOG = `${HEAD} + (select coalesce(sum(n), 0) from log_batch where first_seq is null)`

const { description, isEnabled } = table.notificationRule
export const RULES = projectRecords({
  table: 'notification_rule',
  columns: { description, spec: json<RuleSpec>(), isEnabled, editor: json<Editor>() },
  isForAll: `r.spec -> 'changes' -> 'projects' is not null`,
  // A rule that is new, or enabled again, tells what comes after the end of the log.
  alsoWrites: {
    columns: { after_sequence: END_OF_LOG },
    onUpdate: [
      'after_sequence = case when excluded.is_enabled and not r.is_enabled then excluded.after_sequence else r.after_sequence end',
      'behind_sequence = case when excluded.is_enabled then r.behind_sequence end',
      'behind_mark = case when excluded.is_enabled then r.behind_mark end',
    ],
  },
})
export type RuleRow = RecordOf<typeof RULES>
