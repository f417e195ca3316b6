import type { Config } from '../config.ts'
import { ALL_TYPES, codeLevelOf, ITEM_TYPES } from '../core/deployers/item-types.ts'
import type { Logger } from '../logger.ts'

/** Says that editors bring code. Types that are not the package's are declared by the setting, and are no news. */
export function warnOfEditorTypes({ editorTypes }: Pick<Config, 'editorTypes'>, logger: Logger): void {
  if (editorTypes.has(ALL_TYPES))
    logger.warn(
      'whoever has the role EDITOR may bring code to run, since PHASELINE_EDITOR_TYPES is *, which the next version refuses: grant AUTHOR to those who write such items, or name the types that editors may write',
    )
  const bringing = [...editorTypes].filter((type) => ITEM_TYPES.has(type) && codeLevelOf(type) !== 'NONE')
  if (bringing.length > 0)
    logger.warn(
      { types: bringing },
      'whoever has the role EDITOR may bring code to run with items of these types, since PHASELINE_EDITOR_TYPES names them',
    )
}
