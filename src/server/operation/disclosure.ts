import { NoSchemaIntrospectionCustomRule, validate } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { withoutStacks } from '../../core/without-stacks.ts'

/** The parts of its schema that a server discloses. */
export interface Disclosure {
  readonly introspection: boolean
  /** "Did you mean …?" in errors. */
  readonly suggestions: boolean
}

export const limitDisclosure = ({ introspection, suggestions }: Disclosure): Plugin => ({
  onValidate({ addValidationRule, setValidationFn }) {
    if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule)
    setValidationFn(((schema, document, rules, options) =>
      withoutStacks(() =>
        validate(schema, document, rules, { ...options, ...(suggestions ? {} : { hideSuggestions: true }) }),
      )) as typeof validate)
  },
  onExecute({ args }) {
    if (!suggestions) Object.assign(args, { hideSuggestions: true })
  },
})
