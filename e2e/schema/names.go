package schema

// results are the definitions of the results, by method.
var results = map[Document]map[string]string{
	Initialize: {
		"initialize":               "InitializeResult",
		"ping":                     "EmptyResult",
		"logging/setLevel":         "EmptyResult",
		"resources/subscribe":      "EmptyResult",
		"resources/unsubscribe":    "EmptyResult",
		"tools/list":               "ListToolsResult",
		"tools/call":               "CallToolResult",
		"prompts/list":             "ListPromptsResult",
		"prompts/get":              "GetPromptResult",
		"resources/list":           "ListResourcesResult",
		"resources/read":           "ReadResourceResult",
		"resources/templates/list": "ListResourceTemplatesResult",
		"completion/complete":      "CompleteResult",
		"tasks/get":                "GetTaskResult",
		"tasks/list":               "ListTasksResult",
		"tasks/cancel":             "CancelTaskResult",
		"tasks/result":             "GetTaskPayloadResult",
	},
	Stateless: {
		"server/discover":          "DiscoverResult",
		"subscriptions/listen":     "SubscriptionsListenResult",
		"tools/list":               "ListToolsResult",
		"tools/call":               "CallToolResult",
		"prompts/list":             "ListPromptsResult",
		"prompts/get":              "GetPromptResult",
		"resources/list":           "ListResourcesResult",
		"resources/read":           "ReadResourceResult",
		"resources/templates/list": "ListResourceTemplatesResult",
		"completion/complete":      "CompleteResult",
	},
	Tasks: {
		"tasks/get":    "GetTaskResult",
		"tasks/update": "UpdateTaskResult",
		"tasks/cancel": "CancelTaskResult",
	},
}

// unasked are the definitions of what a server sends by itself, by method.
var unasked = map[Document]map[string]string{
	Initialize: {
		"ping":                                 "PingRequest",
		"roots/list":                           "ListRootsRequest",
		"sampling/createMessage":               "CreateMessageRequest",
		"elicitation/create":                   "ElicitRequest",
		"notifications/cancelled":              "CancelledNotification",
		"notifications/progress":               "ProgressNotification",
		"notifications/message":                "LoggingMessageNotification",
		"notifications/tools/list_changed":     "ToolListChangedNotification",
		"notifications/prompts/list_changed":   "PromptListChangedNotification",
		"notifications/resources/list_changed": "ResourceListChangedNotification",
		"notifications/resources/updated":      "ResourceUpdatedNotification",
		"notifications/tasks/status":           "TaskStatusNotification",
		"notifications/elicitation/complete":   "ElicitationCompleteNotification",
	},
	Stateless: {
		"notifications/cancelled":                  "CancelledNotification",
		"notifications/progress":                   "ProgressNotification",
		"notifications/message":                    "LoggingMessageNotification",
		"notifications/tools/list_changed":         "ToolListChangedNotification",
		"notifications/prompts/list_changed":       "PromptListChangedNotification",
		"notifications/resources/list_changed":     "ResourceListChangedNotification",
		"notifications/resources/updated":          "ResourceUpdatedNotification",
		"notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
	},
	Tasks: {
		"notifications/tasks": "TaskStatusNotification",
	},
}

// failures are the definitions of whole error responses, by code, where the
// document has one of its own.
var failures = map[Document]map[string]string{
	Stateless: {
		"-32020": "HeaderMismatchError",
		"-32021": "MissingRequiredClientCapabilityError",
		"-32022": "UnsupportedProtocolVersionError",
	},
}
