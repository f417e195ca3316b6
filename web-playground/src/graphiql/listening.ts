/** What GraphiQL's page posts to the dashboard around it when it takes operations. */
export const LISTENING = 'phaseline:graphiql-listens'
