import SchemaBuilder, { BasePlugin, type PothosInputFieldConfig, type SchemaTypes } from '@pothos/core'
import { LIMITS, type LimitName, sentenceOf } from '../../core/limits.ts'

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      bounds: BoundsPlugin<Types>
    }
    interface InputFieldOptions {
      /** Bound of the text, the JSON or the list. An ID has that of all ids. */
      limit?: LimitName
      /** The resolver judges each entry of the list on its own, with `boundViolations`. */
      judgesEach?: true
    }
  }
}

/** The bound of an argument or input field, for `check-bounds.ts`. */
export interface BoundExtensions {
  readonly limit?: LimitName
  readonly judgesEach?: true
}

/** Lets each argument and each field of an input name its bound where it is declared, and adds the bound to its description. */
class BoundsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onInputFieldConfig(config: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    const { type } = config
    const isId = type.kind === 'Scalar' && this.buildCache.getTypeConfig(type.ref).name === 'ID'
    const { limit = isId ? 'id' : undefined, judgesEach } = config.pothosOptions
    if (!limit) return config
    const bound: BoundExtensions = { limit, ...(judgesEach && { judgesEach }) }
    return {
      ...config,
      description: [config.description, sentenceOf(LIMITS[limit])].filter(Boolean).join(' '),
      extensions: { ...config.extensions, ...bound },
    }
  }
}

export const BOUNDS_PLUGIN = 'bounds'
SchemaBuilder.registerPlugin(BOUNDS_PLUGIN, BoundsPlugin)
