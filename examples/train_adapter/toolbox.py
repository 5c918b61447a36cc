"""Tools by hand: names, what they do, and how people ask for them."""

from __future__ import annotations

TOOLBOX: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("get weather|weather|current weather|weather lookup", "{Get|Look up} the {current |}weather{ for a city|}", (
        "{What's|What is|How is} the weather {like |}in <city>{ <when>|}{ in <temp_unit>|}?",
        "{Is it|Will it be} {raining|warm|cold|sunny} in <city>{ <when>|}?",
        "{Do I need|Should I take} an umbrella in <city>{ <when>|}?",
        "{Temperature|Weather} in <city>{, <temp_unit>| please|}",
    )),
    ("get forecast|forecast|weather forecast", "{Weather f|F}orecast for the next days", (
        "{Give me|I need|Show me} the forecast for <city>{ for <duration>|}.",
        "How will the weather be in <city> {over|for} the next <duration>?",
    )),
    ("send email|send mail|email|compose email", "Send an e-mail", (
        "{Send|Write} {an email|a mail} to <to_email>{ with the subject '<meeting>'|} {saying|that says} <message>.",
        "{Email|Mail} <to_email>: <message>{, subject <meeting>|}",
        "{Can|Could} you {email|write to} <to_email> about <meeting>? {Tell them|Text}: <message>",
    )),
    ("send message|send sms|text|post message", "Send a {text |chat |}message{ to a contact|}", (
        "{Text|Message|Tell} <recipient>{ that|:} <message>.",
        "{Send|Drop} <recipient> a {message|text}: <message>",
        "Let <recipient> know {that |}<message>.",
    )),
    ("book flight|search flights|find flights|reserve flight", "{Book|Search for} a flight", (
        "{Book|Find|I need|Get} me a {flight|plane ticket} from <origin> to <destination>{ on| for} <when>{, <cabin> class|}.",
        "{I want to|I'd like to|We have to} fly from <origin> to <destination>{ on|} <when>{ with <seats> people|}{ in <cabin>|}.",
        "{Any|Are there} flights to <destination> from <origin> <when>?",
    )),
    ("book hotel|find hotel|reserve room|hotel search", "{Book|Reserve|Find} a hotel room", (
        "{Book|Reserve|Find} {a|me a} <room_type> room in <city> from <check_in> to <check_out>{ for <guests> guests|}.",
        "{I need|We need} a hotel in <city>, {arriving|check-in} <check_in>, {leaving|check-out} <check_out>{, under <budget>|}.",
        "{Get|Find} us a place to stay in <city> for <nights> nights from <check_in>.",
    )),
    ("book table|reserve table|restaurant reservation", "{Reserve|Book} a table in a restaurant", (
        "{Book|Reserve|Get} a table {for <guests> |}at <restaurant>{ for| on|} <when>{ at <time>|}.",
        "{We'd|I'd} like to eat at <restaurant> <when> at <time>, <guests> {people|of us}.",
    )),
    ("find restaurants|search restaurants|restaurant finder", "Find restaurants{ nearby| in a city|}", (
        "{Where can I|Where to} eat <cuisine> food in <city>{ for under <budget>|}?",
        "{Find|Show me|Recommend} {a|some} <cuisine> {restaurant|place|restaurants} in <city>.",
        "{I'm hungry|We want} for <cuisine> in <district>.",
    )),
    ("create event|add event|schedule meeting|create calendar event", "{Create|Add} a calendar event", (
        "{Schedule|Set up|Plan} {a meeting|an event} {called|titled} <meeting>{ on|} <when>{ from <start_time> to <end_time>| at <time>|}.",
        "{Put|Add} <meeting> {in|to} my calendar for <when>{, <time>| at <time>|}.",
        "{Create|Make} an event <meeting> on <when> {at|in} <venue>{ with <names>|}.",
    )),
    ("set reminder|create reminder|remind me|add reminder", "Set a reminder", (
        "Remind me {to|of} <task>{ <remind_date>| on <remind_date>|}{ at <time>|}.",
        "{Set|Create|Add} a reminder{ for <remind_date>|}{ at <time>|}: <task>",
        "Don't let me forget <task> <remind_date>.",
    )),
    ("set alarm|create alarm|wake up", "Set an alarm", (
        "{Wake me|Get me} up at <time>{ <weekday>| on <weekday>|}.",
        "{Set|Make} an alarm for <time>{ called <code_word>|}{, every <weekday>|}.",
    )),
    ("set timer|start timer|countdown", "Start a {countdown |}timer", (
        "{Set|Start} a timer for <duration>{ called <code_word>|}.", "{Count down|Timer,} <duration>{, please|}",
    )),
    ("add task|create task|new todo|create todo", "Add a task to the {todo |}list", (
        "{Add|Put} '<task>' {to|on} my {list|todos|to-do list}{, due <due_date>|}{, <priority> priority|}.",
        "{New task|Todo}: <task>{ by <due_date>|}{ (<priority>)|}.",
        "{I have to|I must} do <task> {by|before} <due_date>, {note|write} it down.",
    )),
    ("translate|translate text|translator", "Translate {a |}text{ into another language|}", (
        "{Translate|Put} '<prompt_text>' {to|into} <target_language>{ from <source_language>|}.",
        "{How do you say|What is} '<prompt_text>' in <target_language>?",
        "{From <source_language> to|Into} <target_language>, please: <prompt_text>",
    )),
    ("convert currency|currency converter|exchange", "Convert {money|an amount} {between currencies|to another currency}", (
        "{Convert|Change|Exchange} <room_no> <from_currency> {to|into} <to_currency>.",
        "{How much is|What are} <room_no> <from_currency> in <to_currency>?",
        "{I have|I've got} <room_no> <from_currency>, {how many|what would that be in} <to_currency>?",
    )),
    ("get exchange rate|exchange rate|fx rate", "Get the exchange rate of two currencies", (
        "{What's|What is} the {exchange |}rate {from|between} <from_currency> {to|and} <to_currency>{ on <date>|}?",
    )),
    ("get stock price|stock price|quote", "{Get|Look up} the price of a {stock|share}", (
        "{What|How much} is {a share of|the stock price of|stock in} <company>{ on <date>|}?",
        "{How is|Check} <company> {doing |}{on the stock market|shares}{ today|}?",
    )),
    ("add|sum|plus|add numbers", "Add two numbers", (
        "{What is|What's|Add|Compute} <number_a> {plus|+|and} <number_b>?", "{Sum|Total} of <number_a> and <number_b>",
    )),
    ("multiply|times|product of numbers", "Multiply two numbers", (
        "{What is|What's|Compute} <number_a> {times|x|*|multiplied by} <number_b>?", "Multiply <number_a> {by|with} <number_b>.",
    )),
    ("divide|division", "Divide one number by another", (
        "{What is|Calculate} <number_a> {divided by|/|over} <number_b>?", "{Split|Divide} <number_a> {by|into} <number_b>{ parts|}",
    )),
    ("calculate tip|tip calculator|split bill", "{Calculate a tip|Work out the tip}", (
        "{What's|How much is} a <tax_rate> tip on {a bill of |}<total>{ for <guests> people|}?",
        "{The bill is|We paid} <total>, {tip|add} <tax_rate>{, split it by <guests>|}.",
    )),
    ("calculate loan|loan payment|mortgage calculator", "Calculate the payments of a loan", (
        "{What do I pay for|Calculate} a loan of <amount> at <rate>{ over| for} <duration>?",
        "{I borrow|Borrowing} <amount> for <duration> at <rate> interest, {what is the payment|how much a month}?",
    )),
    ("calculate discount|apply discount", "Calculate a price after a discount", (
        "{What does|How much is} something {for |}<price> with <discount_rate> off?", "Take <discount_rate> off <price>.",
    )),
    ("track package|track order|track parcel|shipment status", "Track a {package|parcel}", (
        "{Where is|Track|Follow} {my |}{package|parcel|shipment} <tracking>{ with <carrier>|}{?|.|}",
        "{Has|Did} <tracking> {arrived|arrive}{ yet|}?",
    )),
    ("get order|order status|lookup order", "{Get|Look up} an order", (
        "{What's the status of|Where is|Look up|Show} order <order_id>{?|.|}", "{Is|Has} order <order_id> {out yet|shipped}?",
    )),
    ("cancel order|order cancel", "Cancel an order", (
        "{Cancel|Stop|Please cancel} {my |}order <order_id>{ because <reason>|}.", "I don't {want|need} order <order_id> any more{, <reason>|}.",
    )),
    ("refund order|issue refund|create refund", "Refund an order", (
        "{Refund|Pay back|Give} <refund> {for|on} order <order_id>{ because <reason>|}.", "{I want my money|Money} back for <order_id>{, it was <refund>|}.",
    )),
    ("create order|place order|buy|order product", "{Place|Create} an order", (
        "{Order|Buy|Get me|I'd like} <quantity> <product>{ in <colour>|}{, size <size>|}{ for <customer>|}.",
        "{Place|Make} an order {for|of} <quantity> <product>{, ship it to <street>|}{ by <due_date>|}.",
    )),
    ("search products|find product|product search", "Search the {shop|catalogue}", (
        "{Find|Show|Search} {me |}<product> {under|below|for less than} <budget>{ by <brand>|}.",
        "{Do you have|Is there|I'm looking for} {a |}<product>{ in <colour>|}{ by <brand>|}?",
    )),
    ("check stock|stock level|inventory lookup", "Check how many {items|pieces} are in stock", (
        "{How many|How much} <sku> {do we have|are left}{ in <warehouse>|}?", "{Is|Check if} <sku> {in stock|available}{ in <warehouse>|}{?|.|}",
    )),
    ("create ticket|open ticket|report issue|create issue", "{Open|Create} a {support |}ticket", (
        "{Open|Create|File} a ticket: <error>{, priority <priority>|}{, assign {it to |}<assignee>|}.",
        "{Report|Log} {a bug|an issue} {titled|called} <ticket_subject>{ with <priority> priority|}{ in <repo>|}.",
    )),
    ("close ticket|resolve ticket", "Close a ticket", ("{Close|Resolve} {ticket |}<ticket_id>{, <reason>|}.", "<ticket_id> {is done|can be closed}{: <reason>|}.")),
    ("assign ticket|reassign ticket", "Assign a ticket to somebody", ("{Assign|Give|Hand} <ticket_id> to <assignee>.", "<assignee> {should|will} {take|do} <ticket_id>.")),
    ("create user|add user|register user|new account", "Create a user account", (
        "{Create|Add|Register} {a |}user <user>{ with|,} email <email>{, <plan> plan|}.",
        "{Set up|Open} an account for <customer>, <email>{, born <birth_date>|}{, verified: <verified>|}.",
    )),
    ("delete user|remove user|deactivate account", "Delete a user account", ("{Delete|Remove|Kick out} {the |}user <user>.", "<user> {left|is gone}, {delete|remove} the account.")),
    ("reset password|password reset", "Reset a user's password", ("{Reset|Change} the password {of|for} <user>{ via <email>|}.", "<user> {forgot|lost} the password{, mail is <email>|}.")),
    ("search web|web search|google|search", "Search the {web|internet}", (
        "{Search|Look|Google} {the web |}for <topic>{, <limit> results|}.", "{Find|Look up} {information|something} {on|about} <topic>{ online|}.",
        "{Search for|Look for} '<query>'{ and give me <limit> hits|}.",
    )),
    ("get news|news|search news|latest headlines", "Get news{ articles|}", (
        "{What's new|Any news|Latest news} {in|about|on} <topic>{ from <country>|}{?|}", "{Show|Give} me <limit> headlines about <topic>{ in <language>|}.",
    )),
    ("play song|play music|start playback", "Play {music|a song}", (
        "{Play|Put on} <song>{ by <artist>|}{ in the <room_name>|}.", "{I want to hear|Let me hear} <song> by <artist>.", "{Play|Start} some <genre>{ by <artist>|}.",
    )),
    ("add to playlist|playlist add", "Add a song to a playlist", ("{Add|Put} <song>{ by <artist>|} {to|on} {my |}<playlist>{ playlist|}.",)),
    ("find movies|movie search|search films", "Find movies", (
        "{Find|Show|Recommend} {me |}<genre> {movies|films}{ from <year>|}{ with <artist>|}.", "{Which|What} <genre> {films|movies} {came out|are there} {in|from} <year>?",
    )),
    ("search books|book search|find book", "Search for books", (
        "{Find|Search|Look for} books {by|from} <author>{ about <topic>|}{ in <language>|}.", "{Do you have|Is there} '<book>'{ by <author>|}?",
    )),
    ("get recipe|find recipes|recipe search", "Find recipes", (
        "{What can I cook|Recipes} with <ingredients>{?|}", "{Find|Show|Give} me {a recipe|recipes} with <ingredients>{ in under <cooking_time>|}{, no <allergens>|}.",
    )),
    ("turn on light|switch light|control light|set light", "{Switch|Control} a {light|lamp}", (
        "{Turn|Switch} {the |}{light|lamp} in <room_name> {to <colour>|<colour>}{ at <battery>|}.", "{Make|Set} the light in <room_name> <colour>.",
    )),
    ("set temperature|set thermostat|adjust heating", "Set the {thermostat|room temperature}", (
        "{Set|Turn} the {heating|thermostat} {in <room_name> |}to <temperature>.", "{Make it|I want} <temperature> in <room_name>{ from <time>|}.",
    )),
    ("get directions|route|plan route|navigate", "Get directions", (
        "{How do I get|Directions|Route} from <origin> to <destination>{ by <mode>|}{?|}", "{Navigate|Take me|Bring me} to <destination> from <origin>{ by <mode>|}.",
    )),
    ("get distance|distance between", "Get the distance between two places", ("How far is it from <origin> to <destination>{ by <mode>|}?", "{Distance|How many km} from <origin> to <destination>{?|}")),
    ("book taxi|order ride|call cab|request ride", "Order a {taxi|ride}", (
        "{Get|Call|Order} {me |}a {taxi|cab|ride} from <street> to <venue>{ at <time>|}{ for <guests>|}.", "{I need|We need} a ride to <venue> at <time>{ from <street>|}.",
    )),
    ("get train times|train schedule|timetable", "Look up trains", ("{When|What time} {is|goes} the {next |}train from <origin> to <destination>{ <when>|}?", "Trains <origin> to <destination>{, <when>|}{ after <time>|}")),
    ("make payment|transfer money|send money|bank transfer", "{Transfer|Send} money", (
        "{Send|Transfer|Pay} <amount> to <recipient>{ for <remark>|}{ on <when>|}.", "{Transfer|Move} <amount> to {account |}<iban>{, reference <invoice_id>|}.",
    )),
    ("get balance|account balance|check balance", "Get the balance of an account", ("{What's|Show|Check} the balance {of|on} {account |}<iban>{?|.|}", "How much {money |}is {on|left on} <iban>?")),
    ("create invoice|send invoice|new invoice", "Create an invoice", (
        "{Create|Write|Make} an invoice for <customer> {over|of} <amount>{, due <due_date>|}{ with <tax_rate> tax|}.", "{Bill|Invoice} <customer> <amount> for <items>{, due <due_date>|}.",
    )),
    ("log expense|add expense|record expense", "Record an expense", (
        "{Log|Add|Record|Note} {an expense of |}<price> {at|for} <shop>{ on <date>|}{, paid by <payment>|}.", "{I spent|Spent|Paid} <price> at <shop>{ <when>|}.",
    )),
    ("book appointment|make appointment|schedule appointment", "Make an appointment", (
        "{Book|Make|Get} {me |}an appointment with <doctor> {on|for} <when>{ at <time>|}{ because of <symptom>|}.", "{Can|Could} <patient> see <doctor> <when>{ at <time>|}?",
    )),
    ("find doctor|doctor search|find specialist", "Find a doctor", ("{Find|I need} a doctor in <city> {for|against|because of} <symptom>.", "Who treats <symptom> {in|near} <city>?")),
    ("log weight|record weight|track weight", "Record a body weight", ("{Log|Record|Note} my weight: <weight>{ on <date>|}.", "{I weigh|My weight is} <weight>{ today|}.")),
    ("calculate bmi|bmi", "Calculate the body mass index", ("{What's|Calculate} my BMI at <weight> and <height>?", "BMI for <weight>, <height>{, age <age>|}")),
    ("log workout|add workout|record exercise", "Record a workout", ("{Log|Add} a workout: <distance> in <duration>{ on <date>|}.", "I {ran|cycled|walked} <distance> {in|for} <duration>{ <when>|}.")),
    ("generate password|random password|make password", "Generate a {random |}password", ("{Generate|Make|Create|I need} a password {with|of} <quantity> characters.", "{Give me|New} password, <quantity> {long|characters}")),
    ("read file|open file|show file", "Read a file", ("{Read|Open|Show} {me |}<file>.", "{What's in|What does} <file>{ say|}?")),
    ("write file|save file|create file", "Write {text to |}a file", ("{Write|Save} '<message>' {to|into|in} <output_file>.", "{Create|Make} a file <output_file> {with|containing} <message>.")),
    ("copy file|move file", "Copy a file", ("{Copy|Move} <file> to <folder>.", "{Put|Store} a copy of <file> {in|into} <folder>.")),
    ("convert file|export file|export", "Convert a file to another format", ("{Convert|Export|Turn} <file> {to|into|as} <format>.", "{I need|Give me} <file> as <format>.")),
    ("restart service|restart|service restart", "Restart a service", ("{Restart|Bounce|Reboot} {the |}<service>{ service|}{ on <host_name>|}.", "<service> hangs{ on <host_name>|}, {restart|reboot} it.")),
    ("deploy|deploy service|release", "Deploy a version of a service", ("{Deploy|Roll out|Ship} <service> <version>{ to <folder>|}.", "{Bring|Put} version <version> of <service> {live|out}.")),
    ("get logs|fetch logs|show logs", "Get the logs of a service", ("{Show|Get|Fetch} {me |}the {last <limit> |}logs of <service>{ since <timestamp>|}{, level <log_level>|}.", "{What do|Check} the <service> logs{ say|} since <timestamp>{?|}")),
    ("run query|execute sql|query database", "Run a {database |}query", ("{Run|Execute} the query <code_word> on <folder>{, limit <limit>|}.",)),
    ("create branch|git branch", "Create a branch in a repository", ("{Create|Make|Open} {a |}branch <branch> in <repo>.", "Branch <repo> {to|as} <branch>.")),
    ("search contacts|find contact|lookup contact", "Look up a contact", ("{What's|Find|Look up} the {number|address|contact} of <contact>{?|}", "{How can I|Can I} reach <contact>?")),
    ("add contact|create contact|save contact", "Save a contact", ("{Save|Add} {the contact |}<contact>, <phone>{, <email>|}.", "{New contact|Store}: <contact>, {tel. |}<phone>{, works at <company>|}")),
    ("rate product|submit review|leave review", "{Leave|Submit} a review", ("{Give|Rate} {the |}<product> <stars> {stars|points}{: <remark>|}.", "{Leave|Write} a review for <product>: <remark>, <stars> stars")),
    ("join meeting|start call|call", "{Start|Join} a call", ("{Call|Phone|Ring} <contact>{ on <phone>|}.", "{Start|Join} a call with <names>{ at <time>|}.")),
    ("enroll course|register course|sign up course", "Register for a course", ("{Sign|Register|Enroll} <customer> {up |}for <course>{ starting <start_date>|}.", "<customer> {wants to take|would like to join} <course>{, paid by <payment>|}.")),
    ("define word|dictionary|get definition", "Look up {a word|the meaning of a word}", ("{What does|Define} <code_word>{ mean in <language>|}{?|}", "{Meaning|Definition} of <code_word>{ in <language>|}")),
    ("tell joke|get joke|joke", "Tell a joke", ("{Tell me|I want|Give me} a joke{ about <topic>|}.", "{Make me laugh|Something funny}{ about <topic>|}{, please|}")),
    ("get quote|random quote", "Get a quotation", ("{Give me|I need} {a|an inspiring} quote {about|on} <topic>{ by <author>|}.",)),
    ("get time|current time|world clock", "Get the current time{ in a city|}", ("{What time is it|What's the time} in <city>?", "{Time|Local time} in <city>{, please|}")),
    ("water plants|irrigate|start watering", "Start the watering", ("{Water|Irrigate} {the |}<district> {bed|plants} for <duration>.", "{Start|Run} the sprinkler in <district> for <duration>{ at <time>|}.")),
    ("lock door|unlock door|set lock", "Lock or unlock a door", ("{Lock|Open|Unlock} {the |}door {of|to} <room_name>{ with pin <pin>|}.",)),
    ("subscribe|subscribe newsletter|add subscriber", "Subscribe somebody to a mailing list", ("{Subscribe|Add|Put} <email> {to|on} {the |}<channel>{ list|}.",)),
    ("upgrade plan|change plan|change subscription", "Change a customer's plan", ("{Upgrade|Change|Move} {customer |}<customer_id> to {the |}<plan>{ plan|}{ from <start_date>|}.",)),
    ("print document|print", "Print a document", ("{Print|Run off} <file>{, <quantity> copies|}{ on <device_name>|}.", "{I need|Give me} <quantity> {copies|printouts} of <file>.")),
)
