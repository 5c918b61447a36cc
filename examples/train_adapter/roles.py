"""Roles: what a value means in a text, what a field for it may be called, and how one says it in a request."""

from __future__ import annotations

from dataclasses import dataclass

from train_adapter import values as v
from train_adapter import words


@dataclass(frozen=True, slots=True)
class Role:
    """What a value is.

    Attributes:
        key: Name of the role in templates.
        make: Makes values for it.
        names: What a field for it may be called, words apart.
        short: Names that fit other roles too; used only where nothing else in the text would fit.
        phrases: How a request mentions the value, which stands for ``<v>``.
    """

    key: str
    make: v.Maker
    names: tuple[str, ...]
    short: tuple[str, ...]
    phrases: tuple[str, ...]


ROLES: dict[str, Role] = {}


def _add(make: v.Maker, *lines: str) -> None:
    """Each line: ``key ; names ; short names ; phrases``, alternatives apart by ``|``."""
    for line in lines:
        parts = [part.strip() for part in line.split(";")]
        key, names, short, phrases = (*parts, "", "", "")[:4]
        ROLES[key] = Role(
            key,
            make,
            tuple(filter(None, (name.strip() for name in (names or key.replace("_", " ")).split("|")))),
            tuple(filter(None, (name.strip() for name in short.split("|")))),
            tuple(filter(None, (phrase.strip() for phrase in phrases.split("|")))),
        )


_add(
    v.person,
    "customer ; customer name|customer|client|client name|buyer ; name|full name ; for <v>|customer <v>",
    "sender ; sender|from|sender name|author|written by ; name ; from <v>",
    "recipient ; recipient|to|recipient name|addressee ; name ; to <v>",
    "patient ; patient|patient name ; name|full name ; for patient <v>|for <v>",
    "doctor ; doctor|physician|doctor name|clinician ; ; with <v>|with doctor <v>",
    "employee ; employee|employee name|staff member|worker ; name|full name ; for <v>|for employee <v>",
    "manager ; manager|manager name|supervisor|reports to ; ; with manager <v>|reporting to <v>",
    "contact ; contact person|contact name|contact ; name ; with <v>|contact <v>",
    "guest ; guest|guest name|visitor ; name|full name ; for <v>|for guest <v>",
    "applicant ; applicant|candidate|candidate name|applicant name ; name|full name ; for <v>",
    "teacher ; teacher|instructor|taught by|tutor ; ; with <v>|by <v>",
    "author ; author|author name|writer ; ; by <v>",
    "artist ; artist|artist name|performer ; ; by <v>",
    "assignee ; assignee|assigned to|owner|responsible ; ; to <v>|for <v>",
    "reporter ; reporter|reported by|raised by|opened by ; ; reported by <v>",
    "reviewer ; reviewer|approver|approved by ; ; with <v> as reviewer",
    "driver ; driver|driver name|courier ; ; with driver <v>",
    "seller ; seller|vendor|sold by|cashier ; ; from <v>",
    "host ; host|organizer|organiser|chair ; ; hosted by <v>",
)
_add(v.first_name, "nickname ; first name|given name|nickname ; name ; called <v>")
_add(v.of(words.LAST_NAMES), "last_name ; last name|surname|family name ; ; surname <v>")
_add(
    v.company,
    "company ; company|company name|organization|firm ; name ; for <v>|at <v>",
    "supplier ; supplier|supplier name|vendor|vendor name ; ; from <v>|from supplier <v>",
    "employer ; employer|employer name|current company ; company ; at <v>",
    "brand ; brand|manufacturer|maker ; ; by <v>|from <v>",
    "carrier ; carrier|shipping company|delivery service ; ; with <v>|via <v>",
    "bank ; bank|bank name ; ; at <v>",
)
_add(
    v.shop,
    "shop ; store|shop|merchant|store name|shop name ; name ; at <v>|from <v>",
    "restaurant ; restaurant|restaurant name ; name|place ; at <v>",
    "hotel ; hotel|hotel name|accommodation ; name ; at <v>|at the <v>",
    "venue ; venue|venue name|location name|place ; location ; at <v>",
)
_add(
    v.product,
    "product ; product|product name|item|item name|article ; name ; of <v>|the <v>",
    "part ; part|part name|component ; name ; for the <v>",
)
_add(v.choice(("laptop", "printer", "phone", "tablet", "scanner", "router", "monitor", "server")), "device ; device|device type|equipment ; type ; on the <v>")
_add(
    v.title,
    "event ; event|event name|event title ; title|name ; called <v>|titled '<v>'|for <v>",
    "meeting ; meeting|meeting title|subject ; title ; titled '<v>'|about <v>",
    "task ; task|task name|task title|todo ; title|name ; '<v>'|called <v>",
    "course ; course|course name|class ; title|name ; in <v>|for <v>",
    "book ; book|book title|work ; title ; '<v>'|the book <v>",
    "film ; film|movie|movie title ; title ; '<v>'|the movie <v>",
    "song ; song|track|song title ; title ; '<v>'|the song <v>",
    "project ; project|project name ; title|name ; for project <v>|in <v>",
    "ticket_subject ; subject|issue title|summary ; title ; with the subject '<v>'|titled <v>",
    "headline ; headline|article title ; title ; headlined <v>",
    "recipe ; recipe|recipe name|dish ; name|title ; for <v>",
)
_add(
    v.phrase,
    "remark ; remark|remarks|comment|note|notes ; text ; with the note '<v>'|saying <v>|note: <v>",
    "reason ; reason|cause ; ; because <v>|reason: <v>",
    "query ; query|search query|search term|q ; ; '<v>'|for <v>",
    "message ; message|message text|msg ; text|body|content ; saying '<v>'|that says: <v>|with the message <v>",
    "error ; error|error message|fault ; message|msg ; with the error <v>",
    "instructions ; instructions|special instructions|delivery notes ; ; with instructions: <v>",
    "prompt_text ; text|input text|content ; ; '<v>'|the text <v>",
)
_add(
    v.of(words.CITIES),
    "city ; city|town|city name ; location|place ; in <v>|for <v>",
    "origin ; origin|from|departure city|departure|from city|start location ; ; from <v>|leaving <v>",
    "destination ; destination|to|arrival city|to city|end location ; location ; to <v>|going to <v>",
    "birthplace ; birthplace|place of birth|born in ; ; born in <v>",
    "office ; office|office location|branch|site ; location ; at the <v> office|in <v>",
    "warehouse ; warehouse|depot|stock location ; location ; from the <v> warehouse",
)
_add(v.of(words.COUNTRIES), "country ; country|country name ; location ; in <v>|from <v>", "nationality_country ; country of origin|made in|origin country ; ; from <v>")
_add(v.street, "street ; street|street address|address line ; address ; at <v>|to <v>")
_add(v.code("#####|#####|@@# #@@|####|######|#### @@"), "zip ; zip|zip code|postal code|postcode ; ; <v>|zip code <v>")
_add(v.email, "email ; email|email address|e-mail|mail ; contact ; at <v>|with email <v>|to <v>", "to_email ; recipient email|to email|to ; email ; to <v>")
_add(v.phone, "phone ; phone|phone number|telephone|tel|mobile ; contact|number ; on <v>|with phone <v>|at <v>")
_add(v.url, "website ; website|url|link|web address ; ; at <v>|from <v>|<v>")
_add(v.path, "file ; file|file name|filename|file path|attachment ; path|name ; <v>|the file <v>|from <v>", "output_file ; output file|target file|save as|destination file ; ; to <v>|into <v>")
_add(
    v.day,
    "date ; date|day ; ; on <v>|for <v>",
    "order_date ; order date|ordered on|date of order|purchase date ; date ; ordered on <v>",
    "invoice_date ; invoice date|issued|issue date|date issued ; date ; dated <v>",
    "due_date ; due date|due|deadline|pay by|payment due ; date ; due <v>|by <v>|due on <v>",
    "delivery_date ; delivery date|delivered on|expected delivery|eta ; date ; on <v>|to arrive on <v>",
    "birth_date ; birth date|date of birth|dob|birthday|born ; ; born on <v>|born <v>",
    "start_date ; start date|from date|starts on|begins ; date ; from <v>|starting <v>|starting on <v>",
    "end_date ; end date|to date|until|ends on ; ; to <v>|until <v>|ending <v>",
    "check_in ; check in|check in date|arrival|arrival date ; ; checking in <v>|from <v>",
    "check_out ; check out|check out date|departure date ; ; checking out <v>|until <v>",
    "visit_date ; visit date|appointment date|date of visit|exam date ; date ; on <v>",
    "expiry ; expiry|expiry date|expires|valid until|best before ; ; valid until <v>|expiring <v>",
    "last_service ; last service|last inspection|last checked ; ; last serviced <v>",
)
_add(v.loose_day, "when ; date|day ; ; on <v>|<v>|for <v>", "remind_date ; date|remind on|when ; day ; <v>|on <v>")
_add(
    v.clock,
    "time ; time|at|time of day ; ; at <v>",
    "start_time ; start time|starts at|from time|begin ; time ; from <v>|starting at <v>",
    "end_time ; end time|ends at|to time|until time ; ; to <v>|until <v>|ending at <v>",
    "departure_time ; departure time|departs|leaves at ; time ; leaving at <v>",
    "arrival_time ; arrival time|arrives|arrives at ; ; arriving at <v>",
    "opening ; opening time|opens at|open from ; ; opening at <v>",
    "closing ; closing time|closes at ; ; closing at <v>",
    "deadline_time ; cutoff|cutoff time|latest time ; time ; before <v>",
)
_add(v.moment, "timestamp ; timestamp|time stamp|logged at|ts|created at ; time|date ; at <v>", "updated ; updated at|last updated|modified|last seen ; ; updated at <v>")
_add(v.duration, "duration ; duration|length|how long|estimated time ; ; for <v>|lasting <v>", "cooking_time ; cooking time|bake time|cook time ; time|duration ; in <v>", "delay ; delay|delayed by|wait ; ; delayed by <v>", "warranty ; warranty|guarantee|warranty period ; ; with <v> warranty")
_add(
    v.money(5, 4000),
    "total ; total|total amount|grand total|amount due|total price|sum ; amount|price ; totalling <v>",
    "budget ; budget|max price|price limit|limit ; amount ; with a budget of <v>|under <v>|up to <v>",
    "amount ; amount|sum|value ; ; of <v>|<v>",
    "balance ; balance|account balance|remaining balance ; amount ; with a balance of <v>",
    "rent ; rent|monthly rent|rent per month ; price|amount ; for <v> a month",
    "deposit ; deposit|down payment|advance ; ; with a deposit of <v>",
    "fee ; fee|registration fee|ticket price|admission ; price|cost ; for <v>",
    "refund ; refund|refund amount|credited ; amount ; of <v>",
)
_add(v.money(1, 300), "price ; price|unit price|price each|cost ; ; at <v>|for <v>|costing <v>", "shipping ; shipping|shipping cost|delivery fee|postage ; ; plus <v> shipping", "tax ; tax|vat|sales tax|tax amount ; ; with <v> tax", "discount ; discount|rebate|savings ; ; with <v> off", "tip ; tip|gratuity ; ; with a tip of <v>", "subtotal ; subtotal|net|net amount|sub total ; amount ; subtotal <v>", "hourly_rate ; hourly rate|rate|pay per hour ; ; at <v> an hour")
_add(v.money(18000, 150000), "salary ; salary|annual salary|yearly pay ; amount ; with a salary of <v>|earning <v>", "house_price ; asking price|list price ; price ; for <v>")
_add(
    v.number(1, 40),
    "quantity ; quantity|qty|count|units|number of items ; amount|number ; <v> of|<v> pieces of",
    "guests ; guests|party size|number of guests|people|num people ; number ; for <v> people|for <v>|party of <v>",
    "seats ; seats|number of seats|tickets|num tickets ; number ; <v> seats|for <v> seats",
    "nights ; nights|number of nights|stay length ; number ; for <v> nights",
    "servings ; servings|serves|portions ; number ; for <v> servings",
    "rooms ; rooms|bedrooms|number of rooms ; number ; with <v> rooms",
    "experience ; years of experience|experience|experience years ; years ; with <v> years of experience",
    "floor ; floor|level|storey ; number ; on floor <v>",
    "attempts ; attempts|retries|tries|attempt count ; count ; with <v> retries",
    "limit ; limit|max results|top k|number of results|count ; ; show <v>|top <v>|limit <v>",
    "quantity_left ; in stock|stock|stock level|available ; quantity ; with <v> in stock",
)
_add(v.number(18, 90), "age ; age|age years|years old ; ; aged <v>|who is <v>|age <v>")
_add(v.number(1, 31000), "views ; views|visitors|page views|hits ; count|number ; with <v> views", "population ; population|inhabitants|residents ; count ; with <v> inhabitants", "distance_m ; distance m|elevation|altitude ; ; at <v> metres", "mileage ; mileage|kilometers|odometer ; ; with <v> km", "bytes ; bytes|size|file size|response size ; ; of <v> bytes")
_add(v.number(100, 599, separators=False), "status_code ; status code|http status|response code ; code|status ; with code <v>", "page_count ; pages|page count|number of pages ; ; with <v> pages")
_add(v.number(1950, 2030, separators=False), "year ; year|release year|built in|year made ; ; from <v>|in <v>")
_add(v.number(1, 400), "number_a ; a|x|first number|first ; ; <v>", "number_b ; b|y|second number|second ; ; <v>", "room_no ; room|room number ; number ; in room <v>", "score ; score|points|result ; ; with a score of <v>", "attendance ; attendance|attendees count|participants count ; number ; with <v> attendees", "port ; port|port number ; number ; on port <v>", "wait_seconds ; timeout|timeout seconds|wait ; seconds ; with a timeout of <v>")
_add(v.number(1, 5), "stars ; stars|rating|star rating ; score ; with <v> stars|rated <v>", "severity_level ; severity|level|grade ; ; severity <v>")
_add(v.measure(0.5, 90, "kg", "kg", "g", "lb", ""), "weight ; weight|gross weight|net weight|mass ; ; weighing <v>|of <v>")
_add(v.measure(1, 240, "cm", "mm", "m", "in", ""), "height ; height|tall ; ; <v> high", "width ; width|breadth ; ; <v> wide", "length_m ; length|depth ; ; <v> long", "diameter ; diameter|bore ; ; with diameter <v>")
_add(v.measure(1, 900, "km", "miles", "km", ""), "distance ; distance|route length|radius ; ; within <v>|over <v>")
_add(v.measure(-20, 45, "°C", "°C", "degrees", "°F", ""), "temperature ; temperature|temp|reading ; value ; at <v>|to <v>")
_add(v.measure(0.5, 60, "%", "%", "percent"), "rate ; rate|interest rate|percentage|percent ; ; at <v>|with <v> interest", "tax_rate ; tax rate|vat rate|tax percent ; rate ; with <v> tax", "discount_rate ; discount percent|discount|percent off ; ; <v> off|with a <v> discount", "humidity ; humidity|relative humidity|moisture ; ; with <v> humidity", "battery ; battery|battery level|charge ; ; with <v> battery", "progress ; progress|completion|percent done ; ; at <v> progress", "cpu ; cpu|cpu load|cpu usage|load ; ; at <v> load")
_add(v.measure(40, 200, "bpm", "", "mmHg"), "pulse ; pulse|heart rate|hr ; ; with pulse <v>")
_add(v.measure(1, 2000, "ms", "ms", "s"), "latency ; latency|duration ms|response time|took ; duration ; after <v>")
_add(v.measure(0.1, 30, "mmol/L", "mg/dL", "g/L", "U/L", decimals=2), "lab_value ; value|result|measured ; ; of <v>")
_add(v.measure(1, 512, "GB", "MB", "TB"), "memory ; memory|ram|storage|disk ; size ; with <v>")
_add(v.measure(10, 400, "m²", "sqm", "sq ft"), "area ; area|floor area|size|living area ; ; of <v>")
_add(v.measure(5, 500, "mg", "ml", "mcg"), "dose ; dose|dosage|strength ; amount ; <v>")
_add(v.measure(-90, 90, "", decimals=4), "latitude ; latitude|lat ; ; latitude <v>", "longitude ; longitude|lon|lng ; ; longitude <v>")
_add(v.code("###-####|@@-#####|ORD-#####|#########|@#####|SO##/####"), "order_id ; order id|order number|order no|order ; id|number|reference ; <v>|order <v>|for order <v>")
_add(v.code("INV-####|INV-####-##|####/##|R#####|@@####-##"), "invoice_id ; invoice number|invoice id|invoice no|invoice ; id|number|reference ; invoice <v>|<v>")
_add(v.code("#####|C-####|######|K##-###|00####"), "customer_id ; customer id|customer number|account number|client id ; id|number ; customer <v>|for customer <v>", "employee_id ; employee id|staff number|personnel number ; id|number ; employee <v>")
_add(v.code("T-###|#####|HELP-###|@@@-###|INC######"), "ticket_id ; ticket id|ticket|ticket number|issue key|case number ; id|number ; ticket <v>|<v>")
_add(v.code("@@@###|##-####-@|SKU####|@@-###-@#|########"), "sku ; sku|article number|item code|product code|part number ; code ; sku <v>|item <v>")
_add(v.code("@@####|@@ ###|@@###"), "flight ; flight|flight number|flight no ; number ; flight <v>|on <v>")
_add(v.code("@@@@@@|@#@#@#|######|@@@###"), "booking_code ; booking code|confirmation code|booking reference|reservation number|confirmation ; code|reference ; <v>|booking <v>|with code <v>")
_add(v.code("@@##########|#Z@@@########|##############|JD##########"), "tracking ; tracking number|tracking code|tracking id|parcel number ; number|id ; <v>|parcel <v>")
_add(v.code("##.##.##.##|192.168.#.##|10.0.##.#"), "ip ; ip|ip address|client ip|host ; address ; from <v>|<v>")
_add(v.code("#.#.#|v#.##|#.##.#|##.#"), "version ; version|release|build|firmware ; ; version <v>|to <v>")
_add(v.code("~~~~~~~~|~~~~~~~|~~~~-~~~~"), "hash ; hash|commit|checksum|request id|trace id ; id ; <v>")
_add(v.code("####|0###|######|0#####"), "pin ; pin|access code|door code|passcode ; code ; with pin <v>|<v>")
_add(v.code("@@## #### #### ####|GB##@@@@########|DE##############"), "iban ; iban|bank account|account ; account number ; to <v>|account <v>")
_add(v.code("###-#-##-######-#|978##########"), "isbn ; isbn|isbn number ; number ; isbn <v>")
_add(v.code("@@-@@ ###|@@@ ####|##-@@-##|@ ####"), "plate ; license plate|plate|registration|plate number ; number ; plate <v>|with plate <v>")
_add(v.code("A#|B##|@#|##@|Gate @#"), "gate ; gate|platform|seat|slot|bay ; ; at gate <v>|seat <v>")
_add(v.of(words.JOBS), "job ; job title|position|role|occupation|profession ; title ; as a <v>|for the <v> role|as <v>")
_add(v.of(words.DEPARTMENTS), "department ; department|team|division|dept ; ; in <v>|for the <v> department|to <v>")
_add(v.of(words.LANGUAGES), "language ; language|spoken language ; ; in <v>", "target_language ; target language|to language|translate to|language ; to ; to <v>|into <v>", "source_language ; source language|from language|original language ; from ; from <v>")
_add(v.of(words.CUISINES), "cuisine ; cuisine|food type|kitchen style ; type ; <v>|serving <v> food")
_add(v.of(words.GENRES), "genre ; genre|category|style ; type ; <v>|in the <v> genre")
_add(v.of(words.TOPICS), "topic ; topic|subject area|theme ; subject|category ; about <v>|on <v>", "interest ; interest|hobby|field ; topic ; interested in <v>|about <v>", "keyword ; keyword|search keyword|term ; query ; about <v>|for <v>|with the keyword <v>")
_add(v.of(words.SERVICES), "service ; service|service name|module|app ; name|source ; of the <v> service|<v>", "host_name ; host|hostname|node|machine ; name ; on <v>")
_add(v.of(words.SYMPTOMS), "symptom ; symptom|complaint|main symptom|diagnosis ; ; with <v>|because of <v>")
_add(v.of(words.DRUGS), "drug ; drug|medication|medicine|prescription ; name ; of <v>|<v>")
_add(v.of(words.COLOURS), "colour ; color|colour|finish ; ; in <v>|coloured <v>")
_add(v.of(words.MATERIALS), "material ; material|made of|fabric ; type ; made of <v>")
_add(v.of(words.AIRLINES), "airline ; airline|airline name|operated by ; carrier ; with <v>|on <v>")
_add(v.of(words.PAYMENT_METHODS), "payment ; payment method|payment|paid by|payment type ; method ; by <v>|with <v>|paying by <v>")
_add(v.of(words.WEEKDAYS), "weekday ; weekday|day|day of week ; ; on <v>|every <v>")
_add(v.word, "code_word ; label|tag|codename|alias|key ; name|code|id ; <v>|labelled <v>", "device_name ; device name|sensor|sensor name|device id|unit ; name|id ; on <v>|of <v>|for <v>", "user ; user|username|user name|login|handle ; name|id ; for user <v>|user <v>|as <v>", "repo ; repo|repository|repo name ; name|project ; in <v>|in the <v> repo", "branch ; branch|branch name|git branch ; ; on branch <v>|from <v>", "room_name ; room|room name|hall ; location ; in room <v>|in the <v> room", "district ; district|neighborhood|neighbourhood|area ; location ; in <v>", "species ; species|breed|variety ; type|name ; of <v>", "playlist ; playlist|playlist name|album ; name ; to my <v> playlist|in <v>", "channel ; channel|channel name|mailing list ; to ; in #<v>|to the <v> channel", "folder ; folder|directory|bucket ; path ; in the <v> folder|to <v>")
_add(v.choice(("low", "medium", "high", "urgent")), "priority ; priority|urgency|importance ; level ; with <v> priority|priority <v>|as <v> priority")
_add(v.choice(("open", "closed", "pending", "resolved", "on hold")), "ticket_status ; status|state|ticket status ; ; as <v>|with status <v>|to <v>")
_add(v.choice(("shipped", "delivered", "processing", "cancelled", "returned")), "order_status ; status|order status|shipping status|state ; ; as <v>|with status <v>")
_add(v.choice(("economy", "business", "first")), "cabin ; class|cabin|travel class|cabin class ; ; in <v> class|<v> class")
_add(v.choice(("single", "double", "twin", "suite", "family")), "room_type ; room type|type of room|accommodation type ; type ; in a <v> room|a <v> room")
_add(v.choice(("small", "medium", "large")), "size ; size|cup size|garment size ; ; size <v>|in <v>")
_add(v.choice(("new", "used", "refurbished", "damaged")), "condition ; condition|item condition ; state|status ; in <v> condition")
_add(v.choice(("daily", "weekly", "monthly", "yearly")), "frequency ; frequency|interval|how often|repeat ; ; <v>|repeating <v>")
_add(v.choice(("celsius", "fahrenheit", "kelvin")), "temp_unit ; unit|units|temperature unit|scale ; ; in <v>")
_add(v.choice(("debug", "info", "warning", "error", "critical")), "log_level ; level|log level|severity ; type ; at level <v>")
_add(v.choice(("positive", "negative", "neutral", "mixed")), "sentiment ; sentiment|tone|opinion ; ; as <v>")
_add(v.choice(("pdf", "csv", "json", "xml", "html", "png")), "format ; format|file format|output format|export format ; type ; as <v>|in <v> format")
_add(v.choice(("car", "bus", "train", "bike", "on foot")), "mode ; mode|travel mode|transport|by ; ; by <v>")
_add(v.choice(("full-time", "part-time", "contract", "internship")), "contract_type ; employment type|contract type|contract ; type ; <v>")
_add(v.choice(("basic", "standard", "premium", "enterprise")), "plan ; plan|subscription|tier|package ; type|level ; on the <v> plan|<v>")
_add(v.choice(("USD", "EUR", "GBP", "JPY", "CHF", "INR")), "from_currency ; from currency|source currency|currency|from ; ; from <v>", "to_currency ; to currency|target currency|to ; ; to <v>|into <v>", "currency ; currency|currency code ; ; in <v>")
_add(v.choice(("north", "south", "east", "west")), "direction ; direction|heading|facing ; ; heading <v>|facing <v>")
_add(
    v.flag(),
    "newsletter ; newsletter|subscribed|newsletter signup",
    "paid ; paid|is paid|payment received",
    "gift ; gift wrap|is gift|gift",
    "insured ; insured|insurance|is insured",
    "active ; active|is active|enabled",
    "verified ; verified|is verified|confirmed",
    "smoker ; smoker|smoking|is smoker",
    "parking ; parking|has parking|parking available",
    "pets ; pets allowed|pets|pet friendly",
    "remote ; remote|remote work|home office",
    "fragile ; fragile|handle with care|is fragile",
    "vegetarian ; vegetarian|is vegetarian|veggie",
    "cached ; cached|cache hit|from cache",
    "backup ; backup|backups|auto backup",
    "first_visit ; first visit|new patient|new customer",
    "signed ; signed|is signed|signature received",
    "alarm ; alarm|alert|alarm active",
    "organic ; organic|is organic|bio",
)
