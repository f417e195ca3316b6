import graphql from '@graphql-eslint/eslint-plugin'

// Judges schema.graphql, as it is printed. Biome judges the code.

const { configs, parser } = graphql

export default [
  {
    files: ['schema.graphql'],
    languageOptions: { parser, parserOptions: { graphQLConfig: { schema: 'schema.graphql' } } },
    plugins: { '@graphql-eslint': graphql },
    rules: {
      ...configs['flat/schema-recommended'].rules,
      ...configs['flat/schema-relay'].rules,
      '@graphql-eslint/input-name': ['error', { checkInputType: true, caseSensitiveInputType: false }],
      '@graphql-eslint/no-scalar-result-type-on-mutation': 'error',
      '@graphql-eslint/require-nullable-fields-with-oneof': 'error',
      '@graphql-eslint/require-description': [
        'error',
        {
          types: true,
          rootField: true,
          FieldDefinition: true,
          InputValueDefinition: true,
          EnumValueDefinition: true,
          DirectiveDefinition: true,
        },
      ],
      // Lists of values need no cursors, and the relations of a tree are no nodes.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
      ],
      // A tree is read forward only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
      // Results, errors and parts of objects are values and have no id.
      '@graphql-eslint/strict-id-in-types': 'off',
      // GraphQL's directive has no date. The reason names what to use instead, and the changelog says when the old name goes.
      '@graphql-eslint/require-deprecation-date': 'off',
      // A Job has the jobId of every object.
      '@graphql-eslint/no-typename-prefix': 'off',
    },
  },
]
